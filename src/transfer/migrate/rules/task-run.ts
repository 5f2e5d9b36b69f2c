import type { Bodies } from "#log/entry";
import { fieldsOf, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { SourcePiece } from "#transfer/migrate/migration-source";

/** A task of a queue: one execution for one trigger. */
export interface SourceTask {
  readonly task: string;
  readonly name: string;
  readonly params: Json;
  /** As the queue names it: what has not ended is none of the three that end a run. */
  readonly state: string;
  readonly place: string;
  readonly time: string | null;
}

/** The pieces of a task as those of a run: its start, what was said in it, its end. A task that said nothing yet is none. */
export function taskPieces(task: SourceTask, said: readonly SourcePiece[]): readonly SourcePiece[] {
  const [first, ...rest] = said;
  if (first === undefined) return [];
  const { task: run, place, time } = task;
  const turn = { turn: run, run };
  const piece = { place, shape: null, messages: [] };
  const start: SourcePiece = { ...piece, key: `${run}/run`, time, run: runOf(task) };
  const last = said.at(-1)?.time ?? time;
  const status = ENDS.get(task.state);
  const end: readonly SourcePiece[] =
    status === undefined ? [] : [{ ...piece, key: `${run}/end`, time: last, end: { ...turn, status } }];
  return [start, { ...first, turn }, ...rest, ...end];
}

const ENDS: ReadonlyMap<string, "completed" | "failed" | "cancelled"> = new Map([
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
]);

/** What began a task: as its parameters say under the usual names, else its name and its id. */
function runOf({ task, name, params }: SourceTask): Bodies["run_start"] {
  const given = fieldsOf(params);
  const { type, id = null, triggerId = id } = fieldsOf(given["trigger"]);
  const mailbox = wordIn(given, ["mailbox", "mailboxId", "mailbox_id"]);
  return {
    run: task,
    trigger: filled(type) ?? wordIn(given, ["triggerType", "trigger_type"]) ?? name,
    triggerId: filled(triggerId) ?? wordIn(given, ["triggerId", "trigger_id"]) ?? task,
    ...(mailbox === null ? {} : { mailbox }),
  };
}

function wordIn(given: { readonly [name: string]: Json }, names: readonly string[]): string | null {
  return names.map((name) => filled(given[name])).find((word) => word !== null) ?? null;
}

function filled(value: Json | undefined): string | null {
  const text = textIn(value);
  return text === null || text.trim() === "" ? null : text;
}
