import { OPERATION_LIST, type OperationName } from "#operations/table";
import type { AnyOperation, Operation as OperationRow } from "#operations/operation";
import type { TurnBegun } from "#operations/turns";
import { stream } from "#edges/http/events/event-handlers";
import { turnEvents } from "#edges/http/events/tails";
import type { AnyHandler } from "./asked.ts";
import { givenEntries } from "./given-entries.ts";

/** How the server does an operation: the request was checked by its route, and entries stay in the text they were sent in. */
function handlerOf(operation: AnyOperation): AnyHandler {
  const { run, stream: streams } = operation as OperationRow;
  const takesEntries = operation.kind === "act" && Object.hasOwn(operation.input, "entries");
  return async (asked) => {
    const { params, query, body, bodyText, grant, holdfast, key, server } = asked;
    const input: object = {
      ...(params as object | undefined),
      ...(query as object | undefined),
      ...(body as object | undefined),
    };
    const { entries } = input as { readonly entries?: readonly object[] };
    const exact =
      takesEntries && entries !== undefined ? { entries: givenEntries(bodyText, entries, grant) } : {};
    const { clock, cwd: folder, turns, skills, agentRecords, views } = server;
    const output = await run(
      { ...input, ...exact },
      {
        holdfast,
        clock,
        key,
        folder,
        turns,
        skills,
        agentRecords,
        views,
        caller: grant.token,
        get signal() {
          return asked.signal;
        },
      },
    );
    if (streams === undefined || !(asked.headers.get("accept") ?? "").includes("text/event-stream"))
      return output;
    return stream(asked, (scope) => turnEvents({ holdfast, ...scope }, output as TurnBegun, null));
  };
}

export const OPERATION_HANDLERS = Object.fromEntries(
  OPERATION_LIST.map(([name, operation]) => [name, handlerOf(operation)]),
) as { readonly [K in OperationName]: AnyHandler };
