import type { SteerTime } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { ConversationId } from "#log/ids";
import type { Holdfast } from "#conversation/holdfast";
import { asContent, checkContent, type PromptContent } from "./accept.ts";

export interface Steer {
  readonly steer: string;
  readonly content: readonly ContentBlock[];
}

/** The way to the agent of a running prompt; nothing while none runs. */
export interface Steering {
  /** Hands words to the agent; false when it does not take them now. */
  deliver: ((steer: Steer) => Promise<boolean>) | null;
}

export interface SteerOptions {
  /** Its name, so that saying it twice is harmless; made unless given. */
  readonly steer?: string;
  /**
   * What it waits for: `step`, whoever carries the turn takes it as soon as it can (the default); `turn`, the end of the
   * running turn; `run`, the next prompt.
   */
  readonly when?: SteerTime;
}

export interface Steered {
  readonly steer: string;
  readonly delivered: "now" | "with_next_prompt";
}

/** Words that are said while turns run. */
export class SteeredTurns {
  readonly #holdfast: Holdfast;
  readonly #newId: () => string;
  readonly #running = new Map<ConversationId, Steering>();

  constructor(holdfast: Holdfast, newId: () => string) {
    this.#holdfast = holdfast;
    this.#newId = newId;
  }

  begin(conversation: ConversationId): Steering {
    const steering: Steering = { deliver: null };
    this.#running.set(conversation, steering);
    return steering;
  }

  end(conversation: ConversationId): void {
    this.#running.delete(conversation);
  }

  /** Durable first; only then is the agent handed it. */
  async steer(id: string, promptContent: PromptContent, options: SteerOptions): Promise<Steered> {
    checkContent(promptContent);
    const { steer = this.#newId(), when } = options;
    const content = asContent(promptContent);
    const conversation = await this.#holdfast.conversation(id);
    const { deduped } = await conversation.steer(steer, content, when === undefined ? {} : { when });
    const waits = deduped || when === "turn" || when === "run";
    const deliver = waits ? null : this.#running.get(conversation.id)?.deliver;
    const now = (await deliver?.({ steer, content })) === true;
    return { steer, delivered: now ? "now" : "with_next_prompt" };
  }
}
