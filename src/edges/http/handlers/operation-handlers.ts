import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { OPERATION_LIST, type OperationName } from "#operations/table";
import type {
  AnyOperation,
  Operation as OperationRow,
  OperationContext,
  StorePlace,
} from "#operations/operation";
import { type Grant, mayDo } from "#edges/http/access/grant";
import type { ServedPlace } from "#edges/http/http-options";
import type { TurnBegun } from "#operations/turns";
import { turnEvents } from "#edges/http/events/tails";
import { stream } from "./edge-handlers.ts";
import type { Handler, RouteRequest, ServerParts } from "./route-request.ts";
import { entryTexts } from "./entry-texts.ts";

/**
 * A class, not a literal with a getter: V8 gives each such literal a map of its own, and the map keeps the whole request in
 * memory until the next full garbage collection.
 */
class RequestContext implements OperationContext {
  readonly holdfast: Holdfast;
  readonly clock: Clock;
  readonly key: string | undefined;
  readonly folder: string | null;
  readonly turns: ServerParts["turns"];
  readonly skills: ServerParts["skills"];
  readonly agentRecords: ServerParts["agentRecords"];
  readonly views: ServerParts["views"];
  readonly audit: ServerParts["audit"];
  readonly replays: ServerParts["replays"];
  readonly place: StorePlace;
  readonly caller: string;
  readonly #received: RouteRequest["received"];

  constructor({ server, holdfast, key, grant, received }: RouteRequest) {
    this.holdfast = holdfast;
    this.clock = server.clock;
    this.key = key;
    this.folder = server.cwd;
    this.turns = server.turns;
    this.skills = server.skills;
    this.agentRecords = server.agentRecords;
    this.views = server.views;
    this.audit = server.audit;
    this.replays = server.replays;
    this.place = placeFor(server.place, grant);
    this.caller = grant.token;
    this.#received = received;
  }

  get signal(): AbortSignal {
    return this.#received.signal;
  }
}

/** How the server does an operation: the request was checked by its route, and entries stay in the text they were sent in. */
function handlerOf(operation: AnyOperation): Handler<object> {
  const { run, stream: streams } = operation as OperationRow;
  const takesEntries = operation.kind === "act" && Object.hasOwn(operation.input, "entries");
  return async (input, request) => {
    const { bodyText, grant, holdfast, server } = request;
    const { entries } = input as { readonly entries?: readonly object[] };
    const exact =
      takesEntries && entries !== undefined ? { entries: entryTexts(bodyText, entries, grant) } : {};
    const context = new RequestContext(request);
    if (operation.kind === "upload")
      return server.uploads.use(request.upload, (chunks) =>
        // It is read as a blob is, and its bytes are not held.
        run({ ...input, file: { stream: () => chunks } }, context),
      );
    const output = await run({ ...input, ...exact }, context);
    if (
      streams === undefined ||
      !(request.received.headers.get("accept") ?? "").includes("text/event-stream")
    )
      return output;
    return stream(request, (scope) => turnEvents({ holdfast, ...scope }, output as TurnBegun, null));
  };
}

/** Where the store lies is for admins alone. */
function placeFor({ address, bytes }: ServedPlace, grant: Grant): StorePlace {
  const kind = address?.split(":")[0] ?? null;
  return { kind, address: mayDo(grant, "admin") ? address : null, bytes };
}

export const OPERATION_HANDLERS = Object.fromEntries(
  OPERATION_LIST.map(([name, operation]) => [name, handlerOf(operation)]),
) as { readonly [K in OperationName]: Handler<object> };
