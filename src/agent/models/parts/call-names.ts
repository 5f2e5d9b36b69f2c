import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";

const NAME_CHARS_MAX = 64;
const ID_CHARS_MAX = 64;

/**
 * Names and ids of calls as every service takes them. Models make up names, some number their calls anew in every answer, and
 * a conversation may go on with another provider than it began with; a service that does not like one refuses every request
 * from then on. What is given depends on what came before only, so a longer request begins as the shorter one did.
 */
export class CallNames {
  readonly #tools: ReadonlySet<string>;
  readonly #used = new Set<string>();
  /** The count that the latest call of a plain id has: all below it are used. */
  readonly #counts = new Map<string, number>();
  /** Of the newest call of that id: its results stand right behind it. */
  readonly #current = new Map<string, string>();

  constructor(tools: readonly string[]) {
    this.#tools = new Set(tools);
  }

  name(name: string): string {
    if (this.#tools.has(name)) return name;
    const plain = name.replaceAll(/[^\w-]/g, "_").slice(0, NAME_CHARS_MAX);
    return plain === "" ? "unknown" : plain;
  }

  /** The id of a call that comes next. */
  next(id: string): string {
    const plain = id.replaceAll(/[^\w-]/g, "_").slice(0, ID_CHARS_MAX) || "call";
    let callId = plain;
    let count = this.#counts.get(plain) ?? 1;
    while (this.#used.has(callId)) {
      const behind = `_${++count}`;
      callId = plain.slice(0, ID_CHARS_MAX - behind.length) + behind;
    }
    this.#counts.set(plain, count);
    this.#used.add(callId);
    this.#current.set(id, callId);
    return callId;
  }

  /** The id of the call that a result belongs to. */
  of(id: string): string {
    return this.#current.get(id) ?? this.next(id);
  }
}

/** Whether the newest message waits for tools of the provider's own, which go on when it is sent back as it is. */
export function waitsForProvider({ role, content }: ContextMessage): boolean {
  return role === "assistant" && content.some((block: ContentBlock) => block.type === "part/tool-call");
}
