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
import type { Handler } from "./route-request.ts";
import { entryTexts } from "./entry-texts.ts";

/** How the server does an operation: the request was checked by its route, and entries stay in the text they were sent in. */
function handlerOf(operation: AnyOperation): Handler<object> {
  const { run, stream: streams } = operation as OperationRow;
  const takesEntries = operation.kind === "act" && Object.hasOwn(operation.input, "entries");
  return async (input, request) => {
    const { bodyText, grant, holdfast, key, server } = request;
    const { entries } = input as { readonly entries?: readonly object[] };
    const exact =
      takesEntries && entries !== undefined ? { entries: entryTexts(bodyText, entries, grant) } : {};
    const { clock, cwd: folder, turns, skills, agentRecords, views, audit, replays } = server;
    const context: OperationContext = {
      holdfast,
      clock,
      key,
      folder,
      turns,
      skills,
      agentRecords,
      views,
      audit,
      replays,
      place: placeFor(server.place, grant),
      caller: grant.token,
      get signal() {
        return request.signal;
      },
    };
    if (operation.kind === "upload")
      return server.uploads.use(request.upload, (chunks) =>
        // It is read as a blob is, and its bytes are not held.
        run({ ...input, file: { stream: () => chunks } }, context),
      );
    const output = await run({ ...input, ...exact }, context);
    if (streams === undefined || !(request.headers.get("accept") ?? "").includes("text/event-stream"))
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
