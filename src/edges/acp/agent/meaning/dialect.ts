import type { Json } from "#log/json/json-text";
import type { RpcError } from "#edges/acp/agent/process/connection";
import type { CommandKind } from "#sending/rules/command";
import { resetInWords } from "./reset-words.ts";
import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";

/** What differs from one agent to the next, beyond what it declares. How failures are worded is in src/log/sending. */
export interface Dialect {
  readonly kind: "claude" | "codex" | "opencode" | "gemini" | "generic";
  /** Text without a message id is a remark of the adapter, not the agent's answer. */
  readonly remarksLackId: boolean;
  /** So is what goes by an id of another shape than the model's; but it may answer a command. */
  readonly remarkId: RegExp | null;
  /** What a session of it is asked for beyond what the host asks, as a path in its params and the value to put there. */
  readonly asks: { readonly path: readonly string[]; readonly text: string } | null;
  /** What it can do, as far as it is known before it was asked. */
  readonly resumes: boolean;
  readonly forks: boolean;
  /** How many tokens its models take, as far as it has not said so itself. */
  readonly windowTokens: number;
  /** A prompt that its model's service refused stays in its session, as was seen with it. */
  readonly keepsPrompt: boolean;
  /** Its program takes whatever begins like a command for one, also what it does not offer; none reaches the model as it is. */
  readonly takesCommands: boolean;
  /** The commands that make it forget everything. */
  readonly clears: readonly string[];
}

/** What a command of this name is to an agent's program; null when it is words like any other. */
export function commandKind(
  dialect: Dialect,
  offered: ReadonlySet<string>,
  name: string,
): CommandKind | null {
  if (dialect.clears.includes(name) || (name === "clear" && offered.has(name))) return "reset";
  return dialect.takesCommands || offered.has(name) ? "command" : null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// Which messages it keeps, when it waits, and when a limit ends: its adapter says none of it in the protocol's words.
const CLAUDE_RAW = {
  path: ["_meta", "claudeCode", "emitRawSDKMessages"],
  text: JSON.stringify([
    { type: "assistant" },
    { type: "system", subtype: "api_retry" },
    { type: "rate_limit_event" },
  ]),
};

const DIALECTS: readonly Dialect[] = [
  {
    kind: "claude",
    remarksLackId: true,
    remarkId: UUID,
    asks: CLAUDE_RAW,
    resumes: true,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    takesCommands: true,
    clears: ["clear", "new", "reset"],
  },
  {
    kind: "codex",
    remarksLackId: true,
    remarkId: null,
    asks: null,
    resumes: true,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    takesCommands: false,
    clears: [],
  },
  {
    kind: "opencode",
    remarksLackId: false,
    remarkId: null,
    asks: null,
    resumes: true,
    forks: true,
    windowTokens: 128_000,
    keepsPrompt: true,
    takesCommands: true,
    clears: [],
  },
  {
    kind: "gemini",
    remarksLackId: false,
    remarkId: null,
    asks: null,
    resumes: true,
    forks: false,
    windowTokens: 1_000_000,
    keepsPrompt: false,
    takesCommands: false,
    clears: [],
  },
];

const GENERIC: Dialect = {
  kind: "generic",
  remarksLackId: false,
  remarkId: null,
  asks: null,
  resumes: true,
  forks: false,
  windowTokens: 64_000,
  keepsPrompt: false,
  takesCommands: false,
  clears: [],
};

const RUNNERS = /^(?:node|bun|deno|env|npx|bunx|uvx|npm|pnpm|yarn|exec|dlx|run|x)(?:\.cmd|\.exe)?$/;

/** By the name it was given, else by what its command line starts. */
export function dialectOf(name: string, command: readonly string[]): Dialect {
  const named = DIALECTS.find(({ kind }) => kind === name.toLowerCase());
  const program = programIn(command).toLowerCase();
  return named ?? DIALECTS.find(({ kind }) => program.includes(kind)) ?? GENERIC;
}

/** The program without the folder it lies in and the options it is given: either may name another agent. */
function programIn(command: readonly string[]): string {
  const isOption = (word: string): boolean => word.startsWith("-");
  const start = command.findIndex((word) => !isOption(word) && !RUNNERS.test(lastPart(word)));
  const options = command.findIndex((word, at) => at > start && isOption(word));
  return command
    .slice(Math.max(start, 0), options === -1 ? undefined : options)
    .map((word) => lastPart(word))
    .join(" ");
}

/** The name of a file; of one inside a package the path within it. */
function lastPart(word: string): string {
  const [, inside] = /.*[/\\]node_modules[/\\](.+)$/.exec(word) ?? [];
  return inside ?? word.replace(/.*[/\\]/, "");
}

function within(value: Json | undefined, ...path: readonly string[]): Fields {
  return path.reduce<Fields>((at, name) => fieldsOf(at[name]), fieldsOf(value));
}

/** Failures some adapters report beside a turn, which they then call ended or explain in fewer words. */
export class HiddenFailure {
  #error: Fields | null = null;
  #failed: boolean = false;
  #limit: Fields | null = null;
  #remark: string = "";
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Reads an update. */
  take(update: Fields): void {
    const codex = within(update, "_meta", "codex");
    const { error, threadStatus } = codex;
    if (error !== undefined) this.#error = fieldsOf(error);
    const status = fieldsOf(threadStatus)["type"];
    if (status !== undefined) this.#failed = status === "systemError";
    this.limited(within(update, "_meta", "_claude/rateLimit"));
    const isRemark = update["sessionUpdate"] === "agent_message_chunk" && update["messageId"] === undefined;
    if (isRemark) this.#remark = wordsIn(fieldsOf(update["content"])["text"]).trim();
  }

  /** A limit that was told of apart from the updates. */
  limited(limit: Fields): void {
    if (limit["status"] === "rejected") this.#limit = limit;
  }

  /** The failure behind a result that calls itself a success; null when there is none. */
  behind(result: Json): RpcError | null {
    const failure = within(result, "_meta", "jetbrains", "air", "sessionFailure");
    if (failure["severity"] === "error") {
      const kind = failure["category"] === "limit" ? { errorKind: "rate_limit" } : {};
      return this.with({ code: null, message: wordsOf(failure), data: { ...failure, ...kind } });
    }
    if (!this.#failed) return null;
    const message = this.#error === null ? this.#remark : wordsOf(this.#error);
    return { code: null, message: message || "The agent reported an error", data: this.#error };
  }

  /** An error with when a limit ends: as it was told before, else as its words say. */
  with(error: RpcError): RpcError {
    const data = fieldsOf(error.data);
    const said = resetInWords(`${error.message}\n${wordsIn(data["message"])}`, {
      nowMs: this.#nowMs(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone, // the agent runs on this machine
    });
    const limit = this.#limit ?? (said === null ? null : { resetsAt: said });
    return limit === null ? error : { ...error, data: { ...data, limit } };
  }
}

function wordsOf(failure: Fields): string {
  const said = [failure["message"], failure["title"], failure["description"]].find(
    (text) => typeof text === "string",
  );
  return typeof said === "string" ? said : "The agent reported an error";
}
