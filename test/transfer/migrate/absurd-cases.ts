/** What is expected of a migration from a queue of Absurd, whether it is a real one or made of rows that were recorded. */
import type pg from "pg";
import { expect } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import type { Message } from "#log/message";
import { openHoldfast } from "#open";
import { holdfastHere } from "../../edges/cli/cli-here.ts";
import { jsonLines } from "../../edges/cli/cli-run.ts";
import { spaceOf } from "#conversation/on-space";

type Fields = { readonly [name: string]: unknown };

/** What a message says, in whichever words it is written. */
function gist(message: Fields): readonly unknown[] {
  const { role, content } = message;
  const blocks: readonly Fields[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Fields[]);
  const result = blocks.find(({ type }) => type === "tool_result" || type === "tool-result");
  if (result !== undefined) {
    const { value } = (result["output"] ?? { value: result["content"] }) as Fields;
    return ["result", typeof value === "string" ? value : JSON.stringify(value)];
  }
  const said = blocks.map(({ type, text, thinking, name, toolName, arguments: given, input }) => {
    if (type === "thinking") return thinking;
    return type === "text" ? text : [name ?? toolName, given ?? input];
  });
  return role === "toolResult" ? ["result", said[0]] : [role, ...said];
}

interface Step {
  readonly task: string;
  readonly step: string;
  readonly state: Fields;
}

/** The step results of a conversation's tasks as they stand in the tables, in order. */
async function stepResults(pool: pg.Pool, queue: string, conversation: string): Promise<readonly Fields[]> {
  const { rows } = await pool.query<Step>(
    `select t.task_id as task, c.checkpoint_name as step, c.state from absurd.t_${queue} t join absurd.c_${queue} c using (task_id)
     where coalesce(t.params ->> 'conversationId', t.task_id::text) = $1
     order by t.enqueue_at, split_part(c.checkpoint_name, '#', 1), coalesce(nullif(split_part(c.checkpoint_name, '#', 2), ''), '1')::int`,
    [conversation],
  );
  return rows.flatMap(({ state }) => {
    const list =
      state["appendedMessages"] ?? state["newMessages"] ?? ("role" in Object(state) ? [state] : []);
    return list as readonly Fields[];
  });
}

interface TaskRow {
  readonly task: string;
  readonly name: string;
  readonly state: string;
}

/** Every task that said something is a run with its own messages, found by what began it. */
async function checkRuns(
  { pool, queue }: Pick<AbsurdCase, "pool" | "queue">,
  holdfast: Holdfast,
  conversation: string,
): Promise<void> {
  const { rows } = await pool.query<TaskRow>(
    `select task_id as task, task_name as name, state from absurd.t_${queue}`,
  );
  const tasks = new Map(rows.map((row) => [row.task, row]));
  const branch = await (await holdfast.conversation(conversation)).branch();
  const own: Message[] = [];
  for await (const { run, trigger, status, steps } of holdfast.runs({ conversation })) {
    const task = tasks.get(run);
    expect(trigger).toEqual({ type: task?.name, id: run });
    expect(status).toBe(task?.state === "completed" ? "completed" : "running");
    const { messages } = await holdfast.hydrate(run);
    const said = messages.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(steps).toBe(said.filter(({ role }) => role === "assistant").length);
    own.push(...said);
  }
  expect(own).toEqual(branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])));
}

export interface AbsurdCase {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly queue: string;
  readonly store: string;
}

export interface Migrated {
  readonly messages: number;
  readonly conversations: readonly string[];
}

/** Migrates, again, and compares what is here with the step results, message by message; gives what was brought first. */
export async function checkMigrated({ pool, url, queue, store }: AbsurdCase): Promise<Migrated> {
  const from = `${url}?queue=${queue}`;
  const run = await holdfastHere(store, ["migrate", "--from", from, "--json"]);
  expect([run.status, run.err]).toEqual([0, ""]);
  const lines = jsonLines(run.out);
  const [end, ...brought] = lines.toReversed();
  expect(end).toMatchObject({ type: "end", left: 0, system: 0 });
  const again = await holdfastHere(store, ["migrate", "--from", from]);
  expect([again.status, again.out.startsWith("Nothing new in ")]).toEqual([0, true]);
  const verified = await holdfastHere(store, ["migrate", "--from", from, "--verify"]);
  expect([verified.status, verified.out.startsWith("All ")]).toEqual([0, true]);
  expect(run.out + again.err + again.out + verified.out).not.toContain("loopback");
  await using holdfast = await openHoldfast({ store, readOnly: true });
  for (const { conversation, source } of brought) {
    const there = await stepResults(pool, queue, String(source));
    const branch = await (await holdfast.conversation(String(conversation))).branch();
    const here = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const gists = here.map((message) => gist(message as unknown as Fields));
    // A prompt that is a parameter stands before what the steps of its task say.
    const said = gists.filter(([role, words]) => role !== "user" || !String(words).endsWith("weather?"));
    expect(said).toEqual(there.slice(0, said.length).map(gist));
    expect(await spaceOf(holdfast).check({ repair: false })).toEqual([]);
    await checkRuns({ pool, queue }, holdfast, String(conversation));
  }
  return {
    messages: Number(end?.["messages"]),
    conversations: brought.map(({ source }) => String(source)).toSorted(),
  };
}
