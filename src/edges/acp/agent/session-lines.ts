import { randomUUID } from "node:crypto";
import { type ContentBlock, textOfBlocks } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { NativeMessage, PromptRequest, TranscriptMessage } from "#upstream/upstream";
import type { TurnEvent } from "#turn/rules/turn-event";
import { bounded } from "./translate.ts";
import { withPreamble } from "#upstream/rules/preamble";
import { Message, type Span, readableAt, spanAt, stringAt, textAt } from "#edges/acp/wire/spans";
import { spliceWithin } from "#edges/acp/wire/splice";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import { type Clock, NEVER } from "#conversation/clock";

/** The params of `session/prompt`: the host's own where it sent some, after the prior context that the agent lacks. */
export function promptParams(id: string, request: PromptRequest): string {
  const preamble = request.proven ? "" : withPreamble(request.prior, "");
  const opening = preamble === "" ? [] : [JSON.stringify({ type: "text", text: preamble })];
  const { wire } = request;
  if (!(wire instanceof Message) || wire.params === null) {
    const blocks = request.content.flatMap((block) => blockOf(block));
    const prompt = [...opening, ...blocks].join(",");
    return `{"sessionId":${JSON.stringify(id)},"prompt":[${prompt}]}`;
  }
  const { bytes, params } = wire;
  const ids = wire.paramsNamed("sessionId").map((span) => ({
    span,
    text: JSON.stringify(id),
  }));
  const list = wire.param("prompt");
  const isEmpty = list === null || /^\[\s*\]$/.test(textAt(bytes, list));
  const start = list === null ? params.start : list.start + 1;
  const insert = opening.map((text) => ({
    span: { start, end: start },
    text: isEmpty ? text : `${text},`,
  }));
  return spliceWithin(bytes, params, [...ids, ...insert]);
}

function blockOf(block: ContentBlock): readonly string[] {
  if (block.type === "text") return [JSON.stringify({ type: "text", text: block.text })];
  if (block.type !== "image" || block.data === undefined) return [];
  return [JSON.stringify({ type: "image", data: block.data, mimeType: block.mediaType })];
}

/** A permission request that is answered in the log: named, and with the same members as those of our own loop. */
export function namedRequest(
  params: { readonly [name: string]: Json },
  tool: string | null,
  size: number,
): Pick<Extract<TurnEvent, { type: "permission" }>, "request" | "options" | "data"> {
  const { sessionId: _, ...data } = params;
  const toolCall = fieldsOf(params["toolCall"]);
  return {
    // Each process of an agent numbers its requests from the start, and answers are found by the request's name.
    request: `acp/${randomUUID()}`,
    options: optionsOf(params["options"] ?? null),
    data: bounded(
      {
        ...data,
        tool: tool ?? wordsIn(toolCall["title"]),
        input: toolCall["rawInput"] ?? null,
      },
      size,
    ),
  };
}

/** What may be answered to a question for leave. */
function optionsOf(
  options: Json,
): readonly { readonly id: string; readonly name: string; readonly kind: string }[] {
  const choices = listIn(options).map(({ optionId, name, kind }) => ({
    id: wordsIn(optionId),
    name: wordsIn(name),
    kind: wordsIn(kind),
  }));
  return choices.filter(({ id }) => id.trim() !== "");
}

/** Whether the user denied the request or chose nothing. */
export function isRefusal(answer: Json, options: Json): boolean {
  const { outcome, optionId } = fieldsOf(fieldsOf(answer)["outcome"]);
  const chosen = listIn(options).find((option) => option["optionId"] === optionId);
  return outcome !== "selected" || wordsIn(chosen?.["kind"]).startsWith("reject");
}

/** The update in a line; what can be made out of it where it cannot be read. */
export function updateOf(message: Message): { readonly [name: string]: Json } | null {
  if (message.method !== "session/update") return null;
  const { bytes } = message;
  const span = message.param("update");
  if (span === null) return null;
  const update = readableAt(bytes, span);
  return update === null ? outlineOf(bytes, span) : fieldsOf(update);
}

/** The outline of an update that cannot be parsed: the log must still record that a tool started. It may contain an id. */
function outlineOf(bytes: Uint8Array, span: Span): { readonly [name: string]: Json } {
  const names = ["sessionUpdate", "toolCallId", "status", "sessionId"];
  return Object.fromEntries(names.map((name) => [name, stringAt(bytes, spanAt(bytes, span, [name]))]));
}

const LATE_REPLAY_MS = 150; // an agent that answers in the middle of its replay does not say when it is over
const LATE_REPLAY_MS_MAX = 3_000;

/** Gathers the history an agent tells again when a session is loaded. */
export class ReplayedHistory {
  readonly #messages: { readonly role: TranscriptMessage["role"]; readonly id: Json; text: string }[] = [];
  #count: number = 0;

  add(update: { readonly [name: string]: Json }): void {
    this.#count++;
    const kind = update["sessionUpdate"];
    const role = kind === "user_message_chunk" ? "user" : kind === "agent_message_chunk" ? "assistant" : null;
    const { type, text } = fieldsOf(update["content"]);
    if (role === null || type !== "text" || typeof text !== "string") return;
    const id = update["messageId"] ?? null;
    const last = this.#messages.at(-1);
    if (last?.role === role && last.id === id) last.text += text;
    else this.#messages.push({ role, id, text });
  }

  /** Resolves when nothing more has come for a while. */
  async quiet(clock: Clock): Promise<void> {
    const untilMs = clock.steadyMs() + LATE_REPLAY_MS_MAX;
    for (let before = -1; before !== this.#count && clock.steadyMs() < untilMs;) {
      before = this.#count;
      await clock.sleep(LATE_REPLAY_MS, NEVER);
    }
  }

  get messages(): readonly TranscriptMessage[] {
    return this.#messages.map(({ role, text }) => ({ role, text }));
  }
}

/** The same from an agent's own record: the words, without its tools. */
export function shownOf(messages: readonly NativeMessage[]): readonly TranscriptMessage[] {
  return messages.flatMap(({ message }) => {
    if (message.role === "toolResult") return [];
    const text = textOfBlocks(message.content);
    return text === "" ? [] : [{ role: message.role, text }];
  });
}
