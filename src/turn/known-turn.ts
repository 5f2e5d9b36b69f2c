import type { Entry, EntryOf } from "#log/entry";
import { isLogError } from "#log/errors";
import { type ContentBlock, textOfBlocks } from "#log/message";
import { type ConversationId, type EntryId, parseEntryId } from "#log/ids";
import { isSameJson } from "#log/json/json-fields";
import type { EndingClass } from "#log/ending-class";
import { withImages } from "#conversation/image-blobs";
import { eachEntry } from "#conversation/read-log";
import { asContent, type PromptContent } from "./accept.ts";
import type { TurnResult } from "./host.ts";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { spaceOf } from "#conversation/on-space";

interface KeyedPrompt {
  readonly key: string;
  /** The words that are asked for now; null when the last prompt is to be sent again. */
  readonly content: PromptContent | null;
}

/** A turn that has ended, as the log tells of it. */
export interface KeyedTurn {
  readonly result: TurnResult;
  /** What the last of its messages says. */
  readonly lastText: string;
  readonly run: string | null;
}

interface KeyedActions<W, R> {
  /** Does work with the conversation to itself. */
  alone(work: (at: W) => Promise<R>): Promise<R>;
  /** Ends what a dead process left open. */
  settle(at: W): Promise<unknown>;
  /** `isOpen`: the turn was begun under its key, and has not ended. */
  send(at: W, isOpen: boolean): Promise<R>;
}

/** Turns that were given a key: each is sent once, and whoever asks again gets what became of it. */
export class KeyedTurns<R> {
  readonly #holdfast: Holdfast;
  readonly #complete: (turn: KeyedTurn) => R;
  /** Those under way here. */
  readonly #running = new Map<string, Promise<R>>();

  constructor(holdfast: Holdfast, complete: (turn: KeyedTurn) => R) {
    this.#holdfast = holdfast;
    this.#complete = complete;
  }

  run<W>(conversation: ConversationId, request: KeyedPrompt, doing: KeyedActions<W, R>): Promise<R> {
    const name = `${conversation}/${request.key}`;
    const running =
      this.#running.get(name) ??
      this.#start(conversation, request, doing).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #start<W>(conversation: ConversationId, request: KeyedPrompt, doing: KeyedActions<W, R>): Promise<R> {
    const look = (): ReturnType<typeof readKeyedTurn> =>
      readKeyedTurn(this.#holdfast.handle(conversation), request);
    const once = async (at: W): Promise<R> => {
      let turn = await look();
      if (turn === "open") {
        // One that is open though nobody has it was left by the dead: it is settled, not sent again.
        await doing.settle(at);
        turn = await look();
      }
      const isOpen = turn === "open";
      return turn === null || turn === "open" ? doing.send(at, isOpen) : this.#complete(turn);
    };
    return doing.alone(once).catch(async (error: unknown) => {
      // What became of a turn is told also while another one runs.
      const turn = isLogError(error, "busy") ? await look() : null;
      if (turn === null || turn === "open") throw error;
      return this.#complete(turn);
    });
  }
}

/** What became of the turn that was begun under this key; null when there is none, "open" when it has not ended. */
async function readKeyedTurn(
  conversation: Conversation,
  request: KeyedPrompt,
): Promise<KeyedTurn | "open" | null> {
  const append = await conversation.findAppend(request.key);
  if (append === null) return null;
  const start = await conversation.entry(append.lastId);
  if (start.type !== "turn_start" || start.prompt === undefined) return "open";
  const { seq: after } = start;
  const [end] = await conversation.read({ after, limit: 1, types: ["turn_end"] });
  if (end?.turn !== start.turn) return "open";
  const texts: string[] = [];
  const onEntry = (entry: Entry): unknown => texts.push(...replyText(entry));
  await eachEntry(spaceOf(conversation), conversation.id, {
    types: ["message"],
    after,
    upTo: end.seq,
    onEntry,
  });
  const prompt = parseEntryId(start.prompt);
  const differs = !(await saysTheSame(conversation, prompt, request.content));
  const result = { ...resultOf(end, start.turn, prompt), text: texts.join(""), repeated: { differs } };
  return { result, lastText: texts.at(-1) ?? "", run: start.run ?? null };
}

function replyText(entry: Entry): readonly string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return [textOfBlocks(entry.message.content)];
}

function resultOf(end: EntryOf<"turn_end">, turn: string, prompt: EntryId): Omit<TurnResult, "text"> {
  return {
    turn,
    prompt,
    outcome: end.outcome,
    class: (end.class ?? "failed") as EndingClass,
    upstream: end.upstream ?? null,
    resetAtMs: end.resetAt === undefined ? null : Date.parse(end.resetAt),
    message: "This prompt was sent before with the same key",
  };
}

/** Whether these are the words of a prompt that is in the log. */
export async function saysTheSame(
  conversation: Conversation,
  prompt: string,
  content: KeyedPrompt["content"],
): Promise<boolean> {
  if (content === null) return true;
  const stored = await conversation.entry(prompt);
  const blocks: readonly ContentBlock[] = stored.type === "message" ? stored.message.content : [];
  // In the log an image is the name of a blob.
  const before = await withImages(conversation, blocks);
  return isSameJson(before, await withImages(conversation, asContent(content)));
}
