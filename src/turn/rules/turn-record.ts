import type { ContentBlock, EntryBody, Usage } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/same-json";
import type { WireMessage } from "#turn/wire-message";

/** What whoever carries a turn says while at work on it, in the order it came. */
export type TurnEvent = (
  | {
      readonly type: "text" | "thinking";
      readonly text: string;
      /** The agent's own id of the message the text belongs to, where it has one. */
      readonly message?: string;
      /** Said by the agent's program, not by its model. */
      readonly adapterText?: true;
    }
  | {
      readonly type: "tool";
      readonly call: string;
      /** Which of the agent's answers in this turn the call belongs to, where ids come again in each. */
      readonly step?: number;
      readonly name: string;
      readonly input: Json;
      readonly state: "started" | "done" | "failed";
      readonly output?: string;
      /** What else the agent said of the call this time: its title, places, changes to files. */
      readonly detail?: JsonObject;
    }
  /** A message is finished, and this is what the agent keeps of its words; text that has no such end was given up. */
  | { readonly type: "final_text"; readonly message: string; readonly text: string }
  /** The agent waits by itself, before it tries again. */
  | { readonly type: "waiting"; readonly text: string; readonly delayMs: number }
  | { readonly type: "plan"; readonly data: Json }
  /** A person was asked whether a call may go on, or answered. */
  | { readonly type: "permission"; readonly call?: string; readonly data: Json }
  /** Words of a person that were handed to the agent while it worked. */
  | { readonly type: "steered"; readonly steer: string; readonly content: readonly ContentBlock[] }
  /** Anything else it said that is worth keeping. */
  | { readonly type: "other"; readonly data: Json }
  /** Something the host is handed that is no part of the conversation. */
  | { readonly type: "forward_only"; readonly expectsAnswer?: true }
  | { readonly type: "session"; readonly id: string }
  /** The agent has put a summary in the place of its own history. */
  | { readonly type: "compacted" }
  | { readonly type: "usage"; readonly usage: Usage }
) & {
  /** The message as it came, for an edge that passes it on; never recorded. */
  readonly wire?: WireMessage;
};

type JsonObject = { readonly [name: string]: Json };

/** A stretch of words of one message, or a call. */
type Piece =
  | { readonly type: "text" | "thinking"; text: string; readonly message: string | undefined }
  /** `ids` come again: `key` does not. */
  | (Extract<ContentBlock, { type: "toolCall" }> & { readonly key: string });

interface Draft {
  /** What a person said before it, while the agent worked. */
  readonly steered: EntryBody | null;
  readonly pieces: Piece[];
  /** What the agent said of each call, put together. */
  readonly tools: Map<string, JsonObject>;
  /** By the key of the call they answer. */
  readonly results: Map<string, EntryBody>;
}

interface ReplyFacts {
  readonly model: string | null;
  readonly stopReason: string;
  /** What the attempt used, where it did not say so while it worked. */
  readonly usage?: Usage | null;
}

/**
 * The nodes a turn leaves: replies with their tool calls, each followed by its results in the order of the calls. Used
 * at a turn's end and, from the recorded updates, when a turn was cut off; so what is kept does not depend on how it
 * ended. It takes events as they are read: however many there were, it holds what becomes of them.
 */
export class TurnNodes {
  readonly #drafts: Draft[] = [];
  readonly #kept = new Map<string, string>();
  #usage: Usage | undefined;

  add(event: TurnEvent): void {
    const kept = this.#kept;
    if (event.type === "usage") this.#usage = event.usage;
    else if (event.type === "final_text")
      kept.set(event.message, (kept.get(event.message) ?? "") + event.text);
    else if (event.type === "tool") addTool(this.#drafts, event);
    else if (event.type === "steered") this.#drafts.push(newDraft(steerBody(event.content)));
    else if (event.type === "text" || event.type === "thinking")
      addText(openDraft(this.#drafts).pieces, event);
  }

  messages(more: ReplyFacts): readonly EntryBody[] {
    const model = more.model === null ? {} : { model: more.model };
    const last = this.#drafts.findLast((draft) => draft.pieces.length > 0);
    const messages: EntryBody[] = [];
    for (const draft of this.#drafts) {
      if (draft.steered !== null) messages.push(draft.steered);
      if (draft.pieces.length === 0) continue;
      const usage = this.#usage ?? more.usage ?? null;
      const used = usage === null ? {} : { usage };
      const end = draft === last ? { stopReason: more.stopReason, ...used } : { stopReason: "toolUse" };
      const pieces = keptPieces(draft.pieces, this.#kept).filter(
        (piece, at, all) => !isBrokenOff(piece, all[at + 1]),
      );
      const content = pieces.map((piece) => blockOf(piece));
      messages.push({
        type: "message",
        message: { role: "assistant", content, ...model, ...end, ...detailsOf(draft) },
      });
      for (const piece of pieces) {
        const result = piece.type === "toolCall" ? draft.results.get(piece.key) : undefined;
        if (result !== undefined) messages.push(result);
      }
    }
    return messages;
  }
}

export function turnMessages(events: Iterable<TurnEvent>, more: ReplyFacts): readonly EntryBody[] {
  const nodes = new TurnNodes();
  for (const event of events) nodes.add(event);
  return nodes.messages(more);
}

/** What follows a result is another message. */
function openDraft(drafts: Draft[]): Draft {
  const last = drafts.at(-1);
  if (last !== undefined && last.results.size === 0) return last;
  const draft = newDraft(null);
  drafts.push(draft);
  return draft;
}

function newDraft(steered: EntryBody | null): Draft {
  return { steered, pieces: [], tools: new Map(), results: new Map() };
}

function steerBody(content: readonly ContentBlock[]): EntryBody {
  return { type: "message", message: { role: "user", content } };
}

/** What is told of all calls of one message: an entry has to hold it, and nobody answers from it. */
const DETAILS_CHARS_MAX = 8_388_608;

/** Kept for those who show or find the message again; never sent to a model. */
function detailsOf({ pieces, tools }: Draft): { readonly details?: Json } {
  const ids = pieces.flatMap((piece) => (piece.type === "toolCall" ? [] : [piece.message ?? []])).flat();
  const messages = ids.length === 0 ? {} : { messages: [...new Set(ids)] };
  const told = tools.size === 0 ? {} : { tools: Object.fromEntries(withinBudget(tools)) };
  return ids.length + tools.size === 0 ? {} : { details: { ...messages, ...told } };
}

function* withinBudget(tools: Draft["tools"]): Generator<readonly [string, JsonObject]> {
  let chars = 0;
  for (const [call, { rawInput: _, ...detail }] of tools) {
    chars += JSON.stringify(detail).length;
    if (chars > DETAILS_CHARS_MAX) return;
    yield [call, detail];
  }
}

/** Streamed pieces of one text are one text. */
function addText(
  pieces: Piece[],
  { type, text, message }: Extract<TurnEvent, { type: "text" | "thinking" }>,
): void {
  const last = pieces.at(-1);
  if (last?.type === type && last.message === message) last.text += text;
  else pieces.push({ type, text, message });
}

/**
 * Where the agent says what it keeps, that is what counts: a message is its words as a whole, and one that was given up
 * for another is left out. What was being said when the turn ended stays.
 */
function keptPieces(pieces: readonly Piece[], kept: ReadonlyMap<string, string>): readonly Piece[] {
  const told = new Set<string>();
  const last = pieces.findLastIndex((piece) => piece.type === "text" && kept.has(piece.message ?? ""));
  return pieces.flatMap((piece, at): readonly Piece[] => {
    if (piece.type !== "text" || piece.message === undefined || at > last) return [piece];
    const text = kept.get(piece.message);
    if (text === undefined || told.has(piece.message)) return [];
    told.add(piece.message);
    return [{ ...piece, text }];
  });
}

/**
 * A reply that broke off and that the agent began again stands there twice: in part, and then whole under another id.
 * The part says nothing that the whole does not.
 */
function isBrokenOff(piece: Piece, next: Piece | undefined): boolean {
  if (next === undefined || piece.type === "toolCall" || piece.type !== next.type) return false;
  return piece.message !== next.message && next.text.startsWith(piece.text);
}

type ToolEvent = Extract<TurnEvent, { type: "tool" }>;

/** Tells a call from others of the same id, as far as whoever told of it says. */
export function callKey({ call, step }: Pick<ToolEvent, "call" | "step">): string {
  return step === undefined ? call : `${call} of step ${step}`;
}

/** Providers number their calls anew in every answer: one that begins with another input than an ended one is another. */
export function beginsAnew(
  event: Pick<ToolEvent, "state" | "input">,
  before: { readonly ended: boolean; readonly input: Json },
): boolean {
  return event.state === "started" && before.ended && !isSameJson(event.input, before.input);
}

/** A call may be told of several times, each time with more of its input, or only when it is over. */
function addTool(drafts: Draft[], event: ToolEvent): void {
  const { call, name, input, detail } = event;
  const key = callKey(event);
  const known = drafts.findLast(({ pieces }) => pieces.some((piece) => isCall(piece, key)));
  const before = known?.pieces.find((piece) => isCall(piece, key));
  const anew =
    before?.type === "toolCall" &&
    beginsAnew(event, { ended: known?.results.has(key) === true, input: before.input });
  const draft = known === undefined || anew ? openDraft(drafts) : known;
  const at = draft.pieces.findIndex((piece) => isCall(piece, key));
  draft.pieces[at === -1 ? draft.pieces.length : at] = { type: "toolCall", id: call, name, input, key };
  if (detail !== undefined) draft.tools.set(call, { ...draft.tools.get(call), ...detail });
  if (event.state !== "started") draft.results.set(key, resultBody(event));
}

function isCall(piece: Piece, key: string): boolean {
  return piece.type === "toolCall" && piece.key === key;
}

function blockOf(piece: Piece): ContentBlock {
  if (piece.type === "toolCall") {
    const { key: _, ...block } = piece;
    return block;
  }
  return piece.type === "text"
    ? { type: "text", text: piece.text }
    : { type: "thinking", thinking: piece.text };
}

function resultBody(event: ToolEvent): EntryBody {
  const content: ContentBlock[] = event.output === undefined ? [] : [{ type: "text", text: event.output }];
  return {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: event.call,
      toolName: event.name,
      isError: event.state === "failed",
      content,
    },
  };
}

/** What an attempt used: as it said while it worked, else as it said at its end. */
export function usedBy(events: readonly TurnEvent[], atEnd: Usage | null): Usage | null {
  const said = events.findLast((event) => event.type === "usage");
  return said?.type === "usage" ? said.usage : atEnd;
}

/** The words of a turn, as one text. */
export function turnText(events: Iterable<TurnEvent>): string {
  let text = "";
  for (const event of events) if (event.type === "text") text += event.text;
  return text;
}

export function toolStarted(events: Iterable<TurnEvent>): boolean {
  for (const event of events) if (event.type === "tool") return true;
  return false;
}

export function hasCompacted(events: Iterable<TurnEvent>): boolean {
  for (const { type } of events) if (type === "compacted") return true;
  return false;
}

/** Whether a tool was started of which nothing says how it ended. */
export function hasOpenCall(events: Iterable<TurnEvent>): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type !== "tool") continue;
    if (event.state === "started") open.add(event.call);
    else open.delete(event.call);
  }
  return open.size > 0;
}

const ERROR_CHARS_MIN = 12; // a word or two of a partial answer may stand in any error

/**
 * What is left of an attempt that failed: some agents say their error as if it were an answer before they report it,
 * and such words must not stand in the history as one.
 */
export function withoutErrorText(events: readonly TurnEvent[], message: string): readonly TurnEvent[] {
  const last = events.findLastIndex((event) => event.type === "text" && event.text.trim() !== "");
  const end = events[last];
  if (end?.type !== "text") return events;
  const first = lastMessage(events, last);
  const said = turnText(events.slice(first)).trim();
  const error = message.trim();
  const same =
    error !== "" && (said.includes(error) || (said.length >= ERROR_CHARS_MIN && error.includes(said)));
  if (!same && end.adapterText !== true) return events;
  // Without ids a partial answer and the error are one stretch of text: only the error is not an answer.
  const from =
    end.message === undefined && error !== "" && said.includes(error)
      ? errorStart(events, first, error)
      : first;
  return events.filter((event, at) => at < from || event.type !== "text");
}

/** Where the message begins whose words stand last; one without an id reaches back no further than a tool. */
function lastMessage(events: readonly TurnEvent[], last: number): number {
  const end = events[last];
  let first = last;
  for (let at = last - 1; at >= 0; at--) {
    const event = events[at];
    if (event?.type === "tool" && end?.type === "text" && end.message === undefined) break;
    if (event?.type !== "text") continue;
    if (end?.type !== "text" || event.message !== end.message || event.adapterText !== end.adapterText) break;
    first = at;
  }
  return first;
}

/** The piece of text in which the error begins. */
function errorStart(events: readonly TurnEvent[], first: number, error: string): number {
  let at = events.length;
  for (let text = ""; at > first && !text.includes(error);) {
    const event = events[--at];
    if (event?.type === "text") text = event.text + text;
  }
  return at;
}
