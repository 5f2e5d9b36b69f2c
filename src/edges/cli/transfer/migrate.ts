import { ERROR_GROUPS, LogError, isLogError } from "#log/errors";
import { openHoldfast } from "#open";
import type { Holdfast } from "#conversation/holdfast";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { checkStorePlace } from "#edges/cli/address";
import type { Flags } from "#edges/cli/options";
import { progressOn } from "#edges/cli/terminal/output";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import type {
  MigrateFailure,
  MigrateOptions,
  MigrateOutcome,
  MigrateResult,
  MigrationDifference,
  VerifyResult,
} from "#transfer/migrate/migrate-space";
import { followMigration, migrateInto } from "#transfer/migrate/migrate-space";
import { SHAPE_NAMES, type ShapeName } from "#transfer/migrate/foreign-messages";
import { parseColumns } from "#transfer/migrate/table-row";
import type { MigrationSource } from "#transfer/migrate/migration-source";
import { type MigrationSourceOptions, openMigrationSource } from "#transfer/migrate/open-migration-source";
import { verifyMigration } from "#transfer/migrate/verify-migration";
import type { Json } from "#log/json/json-text";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Import messages from your app's database and verify them",
  forms: [""],
  about: `Use it once, when your app moves to Holdfast. It reads a table of messages or a queue of Absurd and
creates one conversation per chat or task, with the same times and order. The source is only
read. Run it again to import new messages: you can interrupt it at any time, and nothing is
imported twice. A conversation with an unreadable row is skipped and reported.`,
  examples: [
    "holdfast migrate --from postgres://db/app --table messages --dry-run",
    "holdfast migrate --from 'postgres://db/app?queue=default' --to sqlite:chats.db",
    "holdfast migrate --from sqlite:app.db --to sqlite:chats.db --verify",
  ],
  options: {
    "--from ADDRESS":
      "postgres://HOST/DATABASE or sqlite:FILE for a table; postgres://HOST/DATABASE?queue=NAME for a queue",
    "--to STORE": "the target (default: the store of --store)",
    "--only ID...": "import this conversation, by its id in your app",
    "--dry-run": "read and check everything, write nothing",
    "--verify":
      "compare every message of both sides and print the first difference of each conversation; exit 8 if they differ",
    "-f, --follow": "keep importing new messages until Ctrl-C",
    "--shape NAME": `the shape of the messages: ${SHAPE_NAMES.join(", ")} (default: detected)`,
    Tables: "",
    "--table NAME": "NAME or SCHEMA.NAME (default: the table that looks like messages)",
    "--columns LIST":
      "conversation=COLUMN,ordinal=…,role=…,content=…,created=…,message=…,internal=…,parent=…,mailbox=…; space=COLUMN puts each tenant into its own space (default: the usual names)",
    Queues: "",
    "--task NAME": "import tasks of this name only",
    "--conversation-in FIELD": "the task parameter with the conversation id (default: the task id)",
    "--space-in FIELD": "the task parameter with the tenant: each gets its own space",
    "--prompt-in FIELD": "the task parameter with the user's prompt",
    "--messages-in FIELD": "the field of a step's result with the messages it added",
    "--whole-lists": "each step has all messages so far: import the new ones",
  },
  writes: true,
  async run(call) {
    const { flags } = call;
    const [from, to] = [flags.text("from"), flags.text("to") ?? call.store];
    if (from === undefined) throw new LogError("invalid_request", "--from says where the messages are");
    const modes = ["dry-run", "verify", "follow"].filter((name) => flags.has(name));
    if (modes.length > 1)
      throw new LogError("invalid_request", `--${modes.join(" and --")} do not go together`);
    checkStorePlace(to);
    const options = sourceOptions(flags);
    const signal = call.io.catchInterrupt();
    const source = await openMigrationSource(from, options);
    call.onEnd(() => source.close());
    if (!call.json) await remark(call, safeLine(source.mapping.join(" · ")));
    const target = await openTarget(call, to, modes[0] === "dry-run" || modes[0] === "verify");
    const only = flags.list("only");
    const common = { signal, ...(only.length === 0 ? {} : { only }) };
    return flags.has("verify")
      ? verify(call, { source, target }, common)
      : bring(call, { source, target }, { ...common, dryRun: flags.has("dry-run") });
  },
};

function sourceOptions(flags: Flags): MigrationSourceOptions {
  const options = {
    table: flags.text("table"),
    task: flags.text("task"),
    conversation: flags.text("conversation-in"),
    space: flags.text("space-in"),
    prompt: flags.text("prompt-in"),
    messages: flags.text("messages-in"),
  };
  const [shape, columns] = [flags.text("shape"), flags.text("columns")];
  if (shape !== undefined && !(SHAPE_NAMES as readonly string[]).includes(shape))
    throw new LogError("invalid_request", `--shape is one of ${SHAPE_NAMES.join(", ")}, not "${shape}"`);
  return {
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    ...(shape === undefined ? {} : { shape: shape as ShapeName }),
    ...(flags.has("whole-lists") ? { wholeLists: true } : {}),
    ...(columns === undefined ? {} : { columns: parseColumns(columns) }),
  };
}

/** For reading, a store that is not there yet is empty. */
async function openTarget(call: Call, store: string, readOnly: boolean): Promise<Holdfast> {
  const holdfast = await openHoldfast({ store, space: call.space, readOnly }).catch((error: unknown) => {
    if (!readOnly || !isLogError(error, "store_gone")) throw error;
    return openHoldfast({ store: "memory:", space: call.space });
  });
  call.onEnd(() => holdfast.close());
  return holdfast;
}

interface Sides {
  readonly source: MigrationSource;
  readonly target: Holdfast;
}

async function bring(
  call: Call,
  { source, target }: Sides,
  options: MigrateOptions & { readonly signal: AbortSignal },
): Promise<number> {
  const follow = call.flags.has("follow");
  const printer = new MigrationPrinter(call, source.name);
  const progress = progressOn(call.io.err, options.dryRun === true ? "reading" : "bringing");
  const handlers = {
    ...options,
    onProgress: ({ done, total }: { readonly done: number; readonly total: number }) =>
      progress.step(done, total),
    onConversation: printer.conversation,
  };
  const result = await (follow
    ? followMigration(target, source, { ...handlers, onCaughtUp: printer.caughtUp })
    : migrateInto(target, source, handlers));
  progress.end();
  await printer.printMigrated(result, options.dryRun === true);
  if (result.stopped && !follow) return STATUS.unavailable;
  return statusOf(result.left);
}

async function verify(
  call: Call,
  { source, target }: Sides,
  options: Pick<MigrateOptions, "only" | "signal">,
): Promise<number> {
  const printer = new MigrationPrinter(call, source.name);
  const progress = progressOn(call.io.err, "comparing");
  const result = await verifyMigration(target, source, {
    ...options,
    onProgress: ({ done, total }) => progress.step(done, total),
    onDifference: printer.difference,
  });
  progress.end();
  for (const one of result.left) printer.conversation(one);
  await printer.printVerified(result);
  if (result.stopped) return STATUS.unavailable;
  return result.differences.length > 0 ? STATUS.differs : statusOf(result.left);
}

/** A conversation that went its own way is a conflict, not damage. */
function statusOf(failures: readonly MigrateFailure[]): number {
  const statuses = failures.map(({ code }) =>
    code === "diverged" ? STATUS.conflict : STATUS[ERROR_GROUPS[code]],
  );
  return Math.max(STATUS.ok, ...statuses);
}

const SIDE_CHARS = 400;
const DIFFERENCES_SHOWN = 20;

/** Says what becomes of each conversation in the order in which it is known. */
class MigrationPrinter {
  readonly #call: Call;
  readonly #source: string;
  #output: Promise<void> = Promise.resolve();
  #differences: number = 0;

  constructor(call: Call, source: string) {
    this.#call = call;
    this.#source = safeLine(source);
  }

  readonly conversation = ({ state: type, ...outcome }: MigrateOutcome): void => {
    if (this.#call.json) this.#write(jsonLine({ type, ...outcome }));
    else if ("message" in outcome) this.#remark(`${outcome.source}: ${outcome.message}`);
  };

  readonly caughtUp = (): void => {
    if (!this.#call.json) this.#remark("Brought all there is; Ctrl-C stops following it");
  };

  readonly difference = (difference: MigrationDifference): void => {
    if (this.#call.json) return this.#write(jsonLine({ type: "difference", ...difference }));
    if (++this.#differences > DIFFERENCES_SHOWN) return;
    const { source, place, number, there, here } = difference;
    const { one, other } = fromDifference(textOf(there), here === null ? "nothing" : textOf(here));
    this.#remark(`${source}, message ${number} is not the same (${place})`);
    this.#remark(`there: ${one}`);
    this.#remark(`here: ${other}`);
  };

  async printMigrated({ left: failures, ...result }: MigrateResult, dryRun: boolean): Promise<void> {
    if (this.#call.json)
      this.#write(jsonLine({ type: "end", ...result, left: failures.length, ...(dryRun ? { dryRun } : {}) }));
    else {
      const { messages, brought: printMigrated, conversations, system } = result;
      const all = counted(conversations, "conversation");
      const within = printMigrated === conversations ? all : `${printMigrated} of ${all}`;
      const verb = dryRun ? "Would bring" : "Brought";
      const summary =
        messages === 0 ? `Nothing new in ${all}` : `${verb} ${counted(messages, "message")} in ${within}`;
      this.#end(`${summary} of ${this.#source}`, system, failures.length);
    }
    await this.#output;
  }

  async printVerified({ differences, left: failures, ...result }: VerifyResult): Promise<void> {
    const counts = { differences: differences.length, left: failures.length };
    if (this.#call.json) this.#write(jsonLine({ type: "end", ...result, ...counts }));
    else {
      const { same, ahead, conversations, system } = result;
      const extra = ahead === 0 ? "" : `; ${counted(ahead, "message")} more here after them`;
      const hidden = differences.length - DIFFERENCES_SHOWN;
      if (hidden > 0) this.#remark(`and ${hidden} more; --json lists them all`);
      const text =
        differences.length === 0
          ? `All ${counted(same, "message")} in ${counted(conversations, "conversation")} of ${this.#source} are the same here`
          : `${counted(differences.length, "conversation")} of ${conversations} not the same as in ${this.#source}`;
      this.#end(`${text}${extra}`, system, failures.length);
    }
    await this.#output;
  }

  #end(text: string, system: number, failures: number): void {
    const note =
      system === 0 ? "" : `; ${counted(system, "system message")} not brought, which no conversation has`;
    const suffix = failures === 0 ? "" : `; ${counted(failures, "conversation")} left out`;
    this.#write(`${text}${note}${suffix}\n`);
  }

  #remark(text: string): void {
    this.#output = this.#output.then(() => remark(this.#call, safeLine(text)));
  }

  #write(text: string): void {
    this.#output = this.#output.then(() => this.#call.io.out.write(text));
  }
}

function textOf(value: Json): string {
  return JSON.stringify(value);
}

/** Both sides from shortly before where they part, so that it is seen in long messages, too. */
function fromDifference(one: string, other: string): { readonly one: string; readonly other: string } {
  let position = 0;
  while (position < one.length && one[position] === other[position]) position++;
  const start = position < SIDE_CHARS / 2 ? 0 : position - SIDE_CHARS / 4;
  const cut = (text: string): string =>
    `${start > 0 ? "…" : ""}${text.slice(start, start + SIDE_CHARS)}${text.length > start + SIDE_CHARS ? "…" : ""}`;
  return { one: cut(one), other: cut(other) };
}
