import type { EntryBody } from "#log/entry";
import type { ContentBlock, ToolCall, ToolResultMessage, Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";
import type { TurnEvent } from "./turn-event.ts";

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
  readonly #finalTexts = new Map<string, string>();
  #usage: Usage | undefined;

  add(event: TurnEvent): void {
    const texts = this.#finalTexts;
    if (event.type === "usage") this.#usage = event.usage;
    else if (event.type === "final_text")
      texts.set(event.message, (texts.get(event.message) ?? "") + event.text);
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
      const pieces = finalPieces(draft.pieces, this.#finalTexts).filter(
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
  const calls = tools.size === 0 ? {} : { tools: Object.fromEntries(withinBudget(tools)) };
  return ids.length + tools.size === 0 ? {} : { details: { ...messages, ...calls } };
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
function finalPieces(pieces: readonly Piece[], finalTexts: ReadonlyMap<string, string>): readonly Piece[] {
  const written = new Set<string>();
  const last = pieces.findLastIndex((piece) => piece.type === "text" && finalTexts.has(piece.message ?? ""));
  return pieces.flatMap((piece, at): readonly Piece[] => {
    if (piece.type !== "text" || piece.message === undefined || at > last) return [piece];
    const text = finalTexts.get(piece.message);
    if (text === undefined || written.has(piece.message)) return [];
    written.add(piece.message);
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
  const target = drafts.findLast(({ pieces }) => pieces.some((piece) => isCall(piece, key)));
  const before = target?.pieces.find((piece) => isCall(piece, key));
  const anew =
    before?.type === "toolCall" &&
    beginsAnew(event, { ended: target?.results.has(key) === true, input: before.input });
  const draft = target === undefined || anew ? openDraft(drafts) : target;
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
  const blocks: ContentBlock[] = event.output === undefined ? [] : [{ type: "text", text: event.output }];
  const { call: id, name, state, content = blocks, details } = event;
  return {
    type: "message",
    message: resultMessage({ id, name }, { isError: state === "failed", content, details }),
  };
}

/** The result of a tool call, as the log and a model have it. */
export function resultMessage(
  { id, name }: Pick<ToolCall, "id" | "name">,
  output: {
    readonly isError: boolean;
    readonly content: readonly ContentBlock[];
    readonly details?: Json | undefined;
  },
): ToolResultMessage {
  const { isError, content, details } = output;
  const more = details === undefined ? {} : { details };
  return { role: "toolResult", toolCallId: id, toolName: name, isError, content, ...more };
}
