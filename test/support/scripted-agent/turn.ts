/** One prompt on its way: what the orders and the failures say through it, and how it ends. */
import { appendFileSync, existsSync } from "node:fs";
import { newMessageId, type Said } from "./session-files.ts";
import type { Session } from "./session.ts";
import type { Fields } from "./wire.ts";

export interface Answer {
  readonly stopReason: string;
  readonly [name: string]: unknown;
}

const POLL_MS = 10;
const UNCACHED_TOKENS = 3;
const SYSTEM_TOKENS = 21_000;

export class Turn {
  readonly session: Session;
  /** The id of the request, to answer it in the middle of a write. */
  readonly requestId: unknown;
  readonly cancelled: AbortSignal;
  readonly #said: string[] = [];
  #messageId: string = newMessageId();
  /** The answer went out already, with other lines. */
  answered: boolean = false;
  readonly #kept: Said[] = [];

  constructor(session: Session, requestId: unknown, cancelled: AbortSignal) {
    this.session = session;
    this.requestId = requestId;
    this.cancelled = cancelled;
  }

  get text(): string {
    return this.#said.join("");
  }

  chunkUpdate(text: string, messageId: string | null = this.#messageId): Fields {
    const named = messageId !== null && this.session.inputs.flavour.messageIds ? { messageId } : {};
    return { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...named };
  }

  say(text: string, messageId: string = this.#messageId): void {
    this.#said.push(text);
    this.session.update(this.chunkUpdate(text, messageId));
  }

  /** Says something that is no part of the answer it keeps. */
  remark(text: string, messageId: string | null = null): void {
    this.session.update(this.chunkUpdate(text, messageId));
  }

  /** Begins the answer again under another message id; what was said so far does not count. */
  startAgain(): void {
    this.#said.length = 0;
    this.#messageId = newMessageId();
  }

  /** Takes words into the kept answer that go out in another way. */
  took(text: string): void {
    this.#said.push(text);
  }

  /** A message of the agent's program, as a session that asked for them gets it. */
  tellProgram(text: string): void {
    const content = [{ type: "text", text }];
    const message = { id: this.#messageId, role: "assistant", model: "claude-scripted-1", content };
    const params = { sessionId: this.session.id, message: { type: "assistant", message } };
    this.session.inputs.wire.notify("_claude/sdkMessage", params);
  }

  update(update: Fields, more: Fields = {}): void {
    this.session.update(update, more);
  }

  end(stopReason: string = "end_turn", more: Fields = {}): Answer {
    const { like } = this.session.inputs.flavour;
    // A model with a prompt cache has read nearly everything before, and counts that apart.
    const [inputTokens, outputTokens] = [UNCACHED_TOKENS, this.text.length];
    const cachedReadTokens = SYSTEM_TOKENS + this.session.told().length;
    const totalTokens = inputTokens + cachedReadTokens + outputTokens;
    const counted = { totalTokens, inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens: 0 };
    const usage = like === "claude" || like === "codex" ? { usage: counted } : {};
    return { stopReason, ...usage, ...more };
  }

  /** Keeps what was said; an agent that dies before this has forgotten its words. */
  close(): void {
    const texts = this.text === "" ? [] : [this.text];
    const answer: readonly Said[] =
      texts.length === 0 ? [] : [{ role: "assistant", texts, messageId: this.#messageId }];
    if (this.#kept.length + answer.length > 0) this.session.keep(...this.#kept, ...answer);
  }

  keepTool(call: string, title: string, output: string): void {
    this.#kept.push({ role: "tool", call, title, output });
  }

  /** Asks the host before a tool runs; the words for what it decided. */
  async permitted(call: string, title: string): Promise<"allowed" | "rejected" | "cancelled"> {
    const params = {
      sessionId: this.session.id,
      toolCall: { toolCallId: call, title, kind: "execute", status: "pending" },
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "always", name: "Always allow", kind: "allow_always" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
    };
    const answer = await this.session.inputs.wire.request("session/request_permission", params);
    const { outcome } = (answer["result"] ?? {}) as { outcome?: { outcome?: string; optionId?: string } };
    if (outcome?.outcome !== "selected") return "cancelled";
    return outcome.optionId === "reject" ? "rejected" : "allowed";
  }
}

/** Resolves when the file is there; false when the turn was cancelled first. */
export async function fileThere(path: string, cancelled?: AbortSignal): Promise<boolean> {
  while (!existsSync(path)) {
    if (cancelled?.aborted === true) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, POLL_MS);
    await promise;
  }
  return true;
}

/** Something done in the world, which must be done at most once. */
export function act(file: string, line: string): void {
  appendFileSync(file, `${line}\n`);
}

/** Resolves when the host cancels. */
export function untilCancelled(turn: Turn): Promise<void> {
  if (turn.cancelled.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  turn.cancelled.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** Never: this agent does not hear a cancel. The timer keeps the process alive while it is deaf. */
export function forever(): Promise<never> {
  setInterval(() => undefined, 60_000);
  return new Promise(() => undefined);
}

/** Dies in the middle of things, as a crash or the kernel would have it. */
export function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return forever();
}
