import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { addedByEach, lookWhole, messagesOfStep, orderSteps } from "./checkpoint-steps.ts";
import { isFields, type ShapeName, shapeOf, located } from "./foreign-messages.ts";
import type { MigrationSource, SourceConversation, SourcePiece } from "./migration-source.ts";
import { quoteName, type SourceDatabase } from "./source-database.ts";
import { parseExact, timeOf } from "./table-row.ts";
import type { Bodies } from "#log/entry";
import { fieldsOf, textIn } from "#log/json/json-fields";

/** What `MigrationSourceOptions` say of a queue. */
interface AbsurdQueueOptions {
  readonly queue: string;
  readonly task?: string;
  readonly conversation?: string;
  readonly space?: string;
  readonly prompt?: string;
  readonly messages?: string;
  readonly wholeLists?: boolean;
  readonly shape?: ShapeName;
}

const CONVERSATION =
  "conversationId conversation_id conversation chatId chat_id chat threadId thread_id sessionId session_id".split(
    " ",
  );
const PARENT =
  "parentConversationId parent_conversation_id parentConversation parentChatId parent_chat_id parentThreadId parent_thread_id".split(
    " ",
  );
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

interface Task {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly space: string | null;
  readonly parent: string | null;
  readonly state: string;
  readonly version: string;
}

/**
 * A queue of Absurd: tasks whose steps appended messages. Tasks of one conversation follow each other; where one has not ended, those
 * behind it wait, so that the order never changes.
 */
export async function absurdQueue(
  database: SourceDatabase,
  options: AbsurdQueueOptions,
): Promise<MigrationSource> {
  const reader = new QueueReader(database, options);
  const members = await reader.members();
  const { queue, messages, prompt = "prompt", space } = options;
  const { conversation, parent } = members;
  return {
    id: `absurd/${queue}`,
    name: `the queue ${queue} of ${database.place}`,
    mapping: [
      `conversation: ${conversation === null ? "the task's id" : `params.${conversation}, else the task's id`}`,
      `run: the task, by params.trigger, else by its name and id`,
      ...(space === undefined ? [] : [`space: params.${space}`]),
      ...(parent === null ? [] : [`parent: params.${parent}`]),
      `messages: ${messages ?? "appendedMessages, newMessages or messages"} of a step's result`,
      `first message: params.${prompt}, if the steps do not start with a user message`,
    ],
    conversations: () => reader.list(members),
    read: (source, tenant) => reader.read(source, tenant),
    close: () => database.close(),
  };
}

/** The members of parameters that say which conversation a task is of, and which one caused that. */
interface Members {
  readonly conversation: string | null;
  readonly parent: string | null;
}

function memberText(member: string | null): string {
  return member === null ? "null" : `params ->> '${member.replaceAll("'", "''")}'`;
}

function listKey(source: string, space: string | null): string {
  return JSON.stringify([space, source]);
}

class QueueReader {
  readonly #database: SourceDatabase;
  readonly #options: AbsurdQueueOptions;
  readonly #tasks: string;
  readonly #checkpoints: string;
  /** As listed last. */
  #tasksByKey: ReadonlyMap<string, readonly Task[]> = new Map();

  constructor(database: SourceDatabase, options: AbsurdQueueOptions) {
    this.#database = database;
    this.#options = options;
    this.#tasks = `absurd.${quoteName(`t_${options.queue}`)}`;
    this.#checkpoints = `absurd.${quoteName(`c_${options.queue}`)}`;
  }

  /** The first of the usual names that parameters have; null where none does. */
  async members(): Promise<Members> {
    const { conversation, queue } = this.#options;
    const [[table] = []] = await this.#database.query("select to_regclass($1)::text", [this.#checkpoints]);
    if (table === null || table === undefined)
      throw new LogError("invalid_request", `Absurd queue ${queue} not found in ${this.#database.place}`, {
        queue,
      });
    const counts = [...CONVERSATION, ...PARENT].map(
      (name) => `cast(count(*) filter (where params ? '${name}') as text)`,
    );
    const [row = []] = await this.#database.query(
      `select ${counts.join(", ")} from ${this.#tasks} where ${this.#ofName()}`,
      this.#name(),
    );
    const first = (names: readonly string[], from: number): string | null =>
      names.find((_, index) => Number(row[from + index]) > 0) ?? null;
    return {
      conversation: conversation ?? first(CONVERSATION, 0),
      parent: first(PARENT, CONVERSATION.length),
    };
  }

  #ofName(): string {
    return this.#options.task === undefined ? "$1 = ''" : "task_name = $1";
  }

  #name(): readonly string[] {
    return [this.#options.task ?? ""];
  }

  async list({ conversation, parent }: Members): Promise<readonly SourceConversation[]> {
    const { space } = this.#options;
    const rows = await this.#database.query(
      `select t.task_id::text, t.task_name, coalesce(nullif(${memberText(conversation)}, ''), t.task_id::text),
         ${memberText(space ?? null)}, nullif(${memberText(parent)}, ''), t.state, c.written
       from ${this.#tasks} t, lateral (
         select count(*) || '/' || coalesce(max(updated_at)::text, '') as written
         from ${this.#checkpoints} c where c.task_id = t.task_id and c.status = 'committed') c
       where ${this.#ofName()} order by coalesce(t.first_started_at, t.enqueue_at), t.task_id`,
      this.#name(),
    );
    const tasks = rows.map(([task, name, source, tenant, caused, state, written]): Task => {
      if (space !== undefined && !tenant)
        throw new LogError("invalid_request", `${this.#tasks}: task ${task} has no params.${space}`);
      return {
        id: task ?? "",
        name: name ?? "",
        source: source ?? "",
        space: tenant ?? null,
        parent: caused ?? null,
        state: state ?? "",
        version: `${task} ${state} ${written}`,
      };
    });
    this.#tasksByKey = Map.groupBy(tasks, (task) => listKey(task.source, task.space));
    return [...this.#tasksByKey.values()].map((list) => {
      const [{ source, space: tenant } = { source: "", space: null }] = list;
      const caused = list.find((task) => task.parent !== null && task.parent !== source)?.parent ?? null;
      const row: SourceConversation = { source, version: list.map(({ version }) => version).join("\n") };
      return Object.assign(
        row,
        tenant === null ? {} : { space: tenant },
        caused === null ? {} : { parent: caused },
      );
    });
  }

  async read(source: string, space: string | null = null): Promise<readonly SourcePiece[]> {
    const tasks = this.#tasksByKey.get(listKey(source, space)) ?? [];
    const open = tasks.findIndex(({ state }) => !ENDED.has(state));
    const pieces: SourcePiece[] = [];
    for (const task of open === -1 ? tasks : tasks.slice(0, open + 1))
      pieces.push(...(await this.#task(task)));
    return pieces;
  }

  async #task({ id: task, name, state: ended }: Task): Promise<readonly SourcePiece[]> {
    const { queue, messages: member = null } = this.#options;
    const place = `absurd.c_${queue}, task ${task}`;
    // Parameters and steps of one moment; the row of the parameters has no step.
    const rows = await this.#database.query(
      `select null, params::text, to_char(enqueue_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from ${this.#tasks} where task_id = $1::uuid
       union all select checkpoint_name, state::text, to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
       from ${this.#checkpoints} where task_id = $1::uuid and status = 'committed'`,
      [task],
    );
    const checkpoints = rows.map(([checkpoint, state, time]) => ({
      checkpoint: checkpoint ?? null,
      state: state ?? "null",
      time: time ?? "",
    }));
    const params = checkpoints.find(({ checkpoint }) => checkpoint === null);
    const written = checkpoints.flatMap((row) =>
      row.checkpoint === null ? [] : [{ ...row, checkpoint: row.checkpoint }],
    );
    const read = located(place, () => orderSteps(written)).map(({ checkpoint, state, time }) => {
      const stepPlace = `${place}, step ${checkpoint}`;
      const messages = located(stepPlace, () => messagesOfStep(parseExact(state), member));
      return { key: `${task}/${checkpoint}`, place: stepPlace, time: timeOf(time), messages };
    });
    const steps = located(place, () => this.#appended(read.filter(({ messages }) => messages.length > 0)));
    const paramsJson = located(place, () => parseExact(params?.state ?? "null"));
    const prompt = this.#prompt(paramsJson, steps[0]);
    const startTime = timeOf(params?.time ?? null);
    const stepPlace = `absurd.t_${queue}, task ${task}, params`;
    const promptPieces: readonly SourcePiece[] =
      prompt === null
        ? []
        : [{ key: `${task}/params`, place: stepPlace, time: startTime, shape: "openai", messages: [prompt] }];
    return taskPieces({ task, name, params: paramsJson, state: ended, place: stepPlace, time: startTime }, [
      ...promptPieces,
      ...steps,
    ]);
  }

  /** What each step appended, where steps have all that there was by then, too. */
  #appended(steps: readonly Omit<SourcePiece, "shape">[]): readonly SourcePiece[] {
    const { wholeLists = false, shape } = this.#options;
    const lists = steps.map(({ messages }) => messages);
    if (!wholeLists && lookWhole(lists))
      throw new LogError(
        "invalid_entry",
        "each step repeats all messages of the step before it. Use --whole-lists to import only the new ones",
      );
    const added = wholeLists ? addedByEach(lists) : lists;
    if (added === null)
      throw new LogError("invalid_entry", "a step does not repeat all messages of the step before it");
    const kind = shape ?? shapeOf(lists.at(-1) ?? []);
    return steps.flatMap(({ key, place, time }, index) => {
      const messages = added[index] ?? [];
      return messages.length === 0
        ? []
        : [{ key, place, time, messages, shape: wholeLists ? kind : (shape ?? shapeOf(messages)) }];
    });
  }

  /** The words a task was begun with, once a step has answered them and did not write them down itself. */
  #prompt(params: Json, first: SourcePiece | undefined): Json | null {
    const { prompt = "prompt" } = this.#options;
    const [opening] = first?.messages ?? [];
    if (!isFields(params) || opening === undefined || (isFields(opening) && opening["role"] === "user"))
      return null;
    const text = params[prompt];
    return typeof text === "string" && text !== "" ? { role: "user", content: text } : null;
  }
}

/** A task of a queue: one execution for one trigger. */
interface SourceTask {
  readonly task: string;
  readonly name: string;
  readonly params: Json;
  /** As the queue names it: what has not ended is none of the three that end a run. */
  readonly state: string;
  readonly place: string;
  readonly time: string | null;
}

/** The pieces of a task as those of a run: its start, what was said in it, its end. A task that said nothing yet is none. */
function taskPieces(task: SourceTask, pieces: readonly SourcePiece[]): readonly SourcePiece[] {
  const [first, ...rest] = pieces;
  if (first === undefined) return [];
  const { task: run, place, time } = task;
  const turn = { turn: run, run };
  const piece = { place, shape: null, messages: [] };
  const start: SourcePiece = { ...piece, key: `${run}/run`, time, run: runOf(task) };
  const last = pieces.at(-1)?.time ?? time;
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
  const fields = fieldsOf(params);
  const { type, id = null, triggerId = id } = fieldsOf(fields["trigger"]);
  const mailbox = wordIn(fields, ["mailbox", "mailboxId", "mailbox_id"]);
  return {
    run: task,
    trigger: filled(type) ?? wordIn(fields, ["triggerType", "trigger_type"]) ?? name,
    triggerId: filled(triggerId) ?? wordIn(fields, ["triggerId", "trigger_id"]) ?? task,
    ...(mailbox === null ? {} : { mailbox }),
  };
}

function wordIn(fields: { readonly [name: string]: Json }, names: readonly string[]): string | null {
  return names.map((name) => filled(fields[name])).find((word) => word !== null) ?? null;
}

function filled(value: Json | undefined): string | null {
  const text = textIn(value);
  return text === null || text.trim() === "" ? null : text;
}
