import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { addedByEach, lookWhole, messagesOfStep, orderSteps } from "#transfer/migrate/rules/checkpoint-steps";
import { isFields, type ShapeName, shapeOf } from "#transfer/migrate/rules/foreign-messages";
import { located } from "#transfer/migrate/rules/located";
import type { MigrationSource, SourceListed, SourcePiece } from "#transfer/migrate/migration-source";
import { quoteName, type SourceDatabase } from "./source-database.ts";
import { parseExact, timeOf } from "#transfer/migrate/rules/table-row";

/** What `MigrationSourceOptions` say of a queue. */
interface AbsurdQueueOptions {
  readonly queue: string;
  readonly task?: string;
  readonly conversation?: string;
  readonly prompt?: string;
  readonly messages?: string;
  readonly wholeLists?: boolean;
  readonly shape?: ShapeName;
}

const CONVERSATION =
  "conversationId conversation_id conversation chatId chat_id chat threadId thread_id sessionId session_id".split(
    " ",
  );
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

interface Task {
  readonly id: string;
  readonly source: string;
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
  const member = await reader.conversationMember();
  const { queue, messages, prompt = "prompt" } = options;
  return {
    id: `absurd/${queue}`,
    name: `the queue ${queue} of ${database.place}`,
    mapping: [
      `conversation: ${member === null ? "the task's id" : `params.${member}, else the task's id`}`,
      `messages: ${messages ?? "appendedMessages, newMessages or messages"} of a step's result`,
      `first message: params.${prompt}, where steps do not begin with one of a person`,
    ],
    conversations: () => reader.list(member),
    read: (source) => reader.read(source),
    close: () => database.close(),
  };
}

class QueueReader {
  readonly #database: SourceDatabase;
  readonly #options: AbsurdQueueOptions;
  readonly #tasks: string;
  readonly #checkpoints: string;
  /** As listed last. */
  #listed: ReadonlyMap<string, readonly Task[]> = new Map();

  constructor(database: SourceDatabase, options: AbsurdQueueOptions) {
    this.#database = database;
    this.#options = options;
    this.#tasks = `absurd.${quoteName(`t_${options.queue}`)}`;
    this.#checkpoints = `absurd.${quoteName(`c_${options.queue}`)}`;
  }

  /** The first of the usual names that parameters have; null where none does. */
  async conversationMember(): Promise<string | null> {
    const { conversation, queue } = this.#options;
    const [[found] = []] = await this.#database.query("select to_regclass($1)::text", [this.#checkpoints]);
    if (found === null || found === undefined)
      throw new LogError(
        "invalid_request",
        `There is no queue ${queue} of Absurd in ${this.#database.place}; nothing was written`,
        { queue },
      );
    const counts = CONVERSATION.map((name) => `cast(count(*) filter (where params ? '${name}') as text)`);
    const [row = []] = await this.#database.query(
      `select ${counts.join(", ")} from ${this.#tasks} where ${this.#ofName()}`,
      this.#name(),
    );
    return conversation ?? CONVERSATION.find((_, at) => Number(row[at]) > 0) ?? null;
  }

  #ofName(): string {
    return this.#options.task === undefined ? "$1 = ''" : "task_name = $1";
  }

  #name(): readonly string[] {
    return [this.#options.task ?? ""];
  }

  async list(member: string | null): Promise<readonly SourceListed[]> {
    const id = member === null ? "null" : `params ->> '${member.replaceAll("'", "''")}'`;
    const rows = await this.#database.query(
      `select t.task_id::text, coalesce(nullif(${id}, ''), t.task_id::text), t.state, c.written
       from ${this.#tasks} t, lateral (
         select count(*) || '/' || coalesce(max(updated_at)::text, '') as written
         from ${this.#checkpoints} c where c.task_id = t.task_id and c.status = 'committed') c
       where ${this.#ofName()} order by coalesce(t.first_started_at, t.enqueue_at), t.task_id`,
      this.#name(),
    );
    const tasks = rows.map(([task, source, state, written]): Task => ({
      id: task ?? "",
      source: source ?? "",
      state: state ?? "",
      version: `${task} ${state} ${written}`,
    }));
    this.#listed = Map.groupBy(tasks, ({ source }) => source);
    return [...this.#listed].map(([source, list]) => ({
      source,
      version: list.map(({ version }) => version).join("\n"),
    }));
  }

  async read(source: string): Promise<readonly SourcePiece[]> {
    const tasks = this.#listed.get(source) ?? [];
    const open = tasks.findIndex(({ state }) => !ENDED.has(state));
    const pieces: SourcePiece[] = [];
    for (const { id } of open === -1 ? tasks : tasks.slice(0, open + 1))
      pieces.push(...(await this.#task(id)));
    return pieces;
  }

  async #task(task: string): Promise<readonly SourcePiece[]> {
    const { queue, messages: member = null } = this.#options;
    const place = `absurd.c_${queue}, task ${task}`;
    // Parameters and steps of one moment; the row of the parameters has no step.
    const rows = await this.#database.query(
      `select null, params::text, to_char(enqueue_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from ${this.#tasks} where task_id = $1::uuid
       union all select checkpoint_name, state::text, to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
       from ${this.#checkpoints} where task_id = $1::uuid and status = 'committed'`,
      [task],
    );
    const found = rows.map(([checkpoint, state, time]) => ({
      checkpoint: checkpoint ?? null,
      state: state ?? "null",
      time: time ?? "",
    }));
    const params = found.find(({ checkpoint }) => checkpoint === null);
    const steps = found.flatMap((row) =>
      row.checkpoint === null ? [] : [{ ...row, checkpoint: row.checkpoint }],
    );
    const read = located(place, () => orderSteps(steps)).map(({ checkpoint, state, time }) => {
      const at = `${place}, step ${checkpoint}`;
      const messages = located(at, () => messagesOfStep(parseExact(state), member));
      return { key: `${task}/${checkpoint}`, place: at, time: timeOf(time), messages };
    });
    const pieces = located(place, () => this.#appended(read.filter(({ messages }) => messages.length > 0)));
    const prompt = located(place, () => this.#prompt(parseExact(params?.state ?? "null"), pieces[0]));
    if (prompt === null) return pieces;
    const first: SourcePiece = {
      key: `${task}/params`,
      place: `absurd.t_${queue}, task ${task}, params`,
      time: timeOf(params?.time ?? null),
      shape: "openai",
      messages: [prompt],
    };
    return [first, ...pieces];
  }

  /** What each step appended, where steps have all that there was by then, too. */
  #appended(steps: readonly Omit<SourcePiece, "shape">[]): readonly SourcePiece[] {
    const { wholeLists = false, shape } = this.#options;
    const lists = steps.map(({ messages }) => messages);
    if (!wholeLists && lookWhole(lists))
      throw new LogError(
        "invalid_entry",
        "each step has all messages of the one before it again; say so with --whole-lists, and of each what is new is brought",
      );
    const added = wholeLists ? addedByEach(lists) : lists;
    if (added === null)
      throw new LogError("invalid_entry", "a step does not have all messages of the one before it");
    const kind = shape ?? shapeOf(lists.at(-1) ?? []);
    return steps.flatMap(({ key, place, time }, at) => {
      const messages = added[at] ?? [];
      return messages.length === 0
        ? []
        : [{ key, place, time, messages, shape: wholeLists ? kind : (shape ?? shapeOf(messages)) }];
    });
  }

  /** The words a task was begun with, once a step has answered them and did not write them down itself. */
  #prompt(params: Json, first: SourcePiece | undefined): Json | null {
    const { prompt = "prompt" } = this.#options;
    const [said] = first?.messages ?? [];
    if (!isFields(params) || said === undefined || (isFields(said) && said["role"] === "user")) return null;
    const words = params[prompt];
    return typeof words === "string" && words !== "" ? { role: "user", content: words } : null;
  }
}
