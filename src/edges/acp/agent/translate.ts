import type { Json } from "#log/json/json-text";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { Dialect } from "#vendors/vendor";
import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";

type ToolEvent = Extract<TurnEvent, { type: "tool" }>;

/** Updates about the state of the session, which come at any time; all others belong to a turn. */
const STATE_UPDATES: ReadonlySet<string> = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
]);

export function isStateUpdate(kind: string): boolean {
  return STATE_UPDATES.has(kind);
}

/** Translates the updates of one turn for the log. Unknown updates are stored unchanged. */
export class Translator {
  readonly #dialect: Dialect;
  readonly #tools = new Map<
    string,
    { readonly name: string; readonly input: Json; readonly output: string }
  >();

  /** Calls that stand for the agent's own work, such as a review or a compaction. */
  readonly #ownWork = new Set<string>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** `size` is that of the line: members of a short one are not made text to be measured. */
  event(update: Fields, size: number): TurnEvent {
    switch (update["sessionUpdate"]) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#chunk(update, size);
      // The prompt is in the log already.
      case "user_message_chunk":
      case "available_commands_update":
        return { type: "forward_only" };
      case "tool_call":
      case "tool_call_update":
        return this.#call(callOf(update["toolCallId"] ?? null), update, size);
      case "plan":
        return { type: "plan", data: bounded(update, size) };
      default:
        return { type: "other", data: bounded(update, size) };
    }
  }

  #chunk(update: Fields, size: number): TurnEvent {
    const { type, text } = fieldsOf(update["content"]);
    const message = update["messageId"];
    const hasId = typeof message === "string";
    const isWords = type === "text" && typeof text === "string";
    if (!isWords || (!hasId && this.#dialect.remarksLackId))
      return { type: "other", data: bounded(update, size) };
    return {
      type: update["sessionUpdate"] === "agent_message_chunk" ? "text" : "thinking",
      text,
      ...(hasId ? { message } : {}),
      ...(hasId && this.#dialect.remarkId?.test(message) === true ? { adapterText: true } : {}),
    };
  }

  #call(call: string, update: Fields, size: number): TurnEvent {
    const { reviewCalls, compactionTools } = this.#dialect;
    const isFirst = !this.#tools.has(call);
    if (isFirst && (reviewCalls?.test(call) === true || compactionTools.includes(this.#toolName(update))))
      this.#ownWork.add(call);
    return this.#ownWork.has(call)
      ? { type: "other", data: bounded(update, size) }
      : this.#tool(call, update, size);
  }

  #tool(call: string, update: Fields, size: number): ToolEvent {
    const { sessionUpdate: _kind, toolCallId: _call, _meta, ...fields } = update;
    const first = !this.#tools.has(call);
    const earlier = this.#tools.get(call) ?? { name: "", input: {}, output: "" };
    const tool = {
      name: earlier.name === "" ? this.#toolName(update) : earlier.name,
      input: within(VALUE_CHARS_MAX, fields["rawInput"] ?? earlier.input, size),
      output: cut(outputOf(fields) ?? earlier.output + printed(fieldsOf(_meta))),
    };
    this.#tools.set(call, tool);
    const state = STATES.get(wordsIn(fields["status"])) ?? "started";
    const isNews = ([name, value]: [string, Json]): boolean =>
      value !== null && (first || state !== "started" || !GROWING.has(name));
    const detail = bounded(Object.fromEntries(Object.entries(fields).filter(isNews)), size);
    const { name, input, output } = tool;
    const ended = state === "started" || output === "" ? {} : { output };
    const never = state === "failed" && this.#dialect.neverRan(update) ? { details: { notRun: true } } : {};
    return { type: "tool", call, name, input, state, ...ended, detail, ...never };
  }

  #toolName(update: Fields): string {
    const own = this.#dialect.toolName(fieldsOf(update["_meta"]));
    const named = [update["name"], own, update["title"], update["kind"]];
    const name = named.find((candidate) => typeof candidate === "string" && candidate !== "");
    return typeof name === "string" ? name : "tool";
  }

  nameOf(call: string): string | null {
    return this.#tools.get(call)?.name ?? null;
  }

  isKnown(call: string): boolean {
    return this.#tools.has(call);
  }

  /** The event of a call whose first sign is a permission request; null when the call is known. */
  announce(call: string, toolCall: Fields, size: number): TurnEvent | null {
    return this.#tools.has(call) ? null : this.#tool(call, { ...toolCall, status: null }, size);
  }

  /** The event of a denied call, in case the agent sends no more about it. */
  refused(call: string): TurnEvent | null {
    const tool = this.#tools.get(call);
    if (tool === undefined) return null;
    return {
      type: "tool",
      call,
      name: tool.name,
      input: tool.input,
      state: "failed",
      output: "Not permitted",
    };
  }
}

// A tool that runs tells all it has printed so far, again and again; once it has ended, what counts is told once.
const GROWING: ReadonlySet<string> = new Set(["content", "rawOutput"]);

// An entry has a size, a line of an agent hardly any, and a tool tells its output more than once. What is longer than
// this could be part of no model's context.
const VALUE_CHARS_MAX = 1_048_576;
const OUTPUT_CHARS_MAX = 8_388_608;

const CHARS_PER_BYTE_MAX = 6; // 1e20 is written with 21 digits

/** The members, each in place of its text where that is too large to keep. `size` is that of the line they came in. */
export function bounded(members: Fields, size: number): Fields {
  if (size * CHARS_PER_BYTE_MAX <= OUTPUT_CHARS_MAX / 2) return members;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, within(OUTPUT_CHARS_MAX / 2, value, size)]),
  );
}

function within(charsMax: number, value: Json, size: number): Json {
  if (size * CHARS_PER_BYTE_MAX <= charsMax) return value;
  const chars = JSON.stringify(value).length;
  return chars <= charsMax ? value : { leftOut: `${chars} characters` };
}

function cut(output: string): string {
  if (output.length <= OUTPUT_CHARS_MAX) return output;
  const more = output.length - OUTPUT_CHARS_MAX;
  return `${output.slice(0, OUTPUT_CHARS_MAX).toWellFormed()}\n[${more} more characters omitted]`;
}

/** The output of a terminal that only the host shows. */
function printed(meta: Fields): string {
  const output = fieldsOf(meta["terminal_output"] ?? meta["terminal_output_delta"]);
  return wordsIn(output["data"]);
}

const STATES: ReadonlyMap<string, ToolEvent["state"]> = new Map([
  ["completed", "done"],
  ["failed", "failed"],
]);

/** A call without a valid id is still a call: once one has started, nothing is sent again. */
function callOf(id: Json): string {
  return typeof id === "string" && id !== "" ? id : `unnamed ${JSON.stringify(id)}`;
}

/** The outcome as a model would read it; null when this update has none. */
function outputOf(fields: Fields): string | null {
  const { content, rawOutput } = fields;
  const parts = Array.isArray(content)
    ? (content as readonly Json[]).map((part) => partText(fieldsOf(part)))
    : [];
  const text = parts.filter((part) => part !== "").join("\n");
  if (text !== "") return text;
  if (rawOutput === undefined || rawOutput === null) return null;
  return typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput);
}

function partText(part: Fields): string {
  if (part["type"] === "diff") return `Changed ${wordsIn(part["path"])}`;
  const block = fieldsOf(part["content"]);
  if (block["type"] === "text") return wordsIn(block["text"]);
  const resource = fieldsOf(block["resource"]);
  return typeof resource["text"] === "string" ? resource["text"] : "";
}
