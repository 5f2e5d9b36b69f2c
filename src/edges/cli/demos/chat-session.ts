import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { newChat } from "#conversation/resets";
import { type Forked, forkAside, goBackTo } from "#sending/fork";
import { Runtime } from "#sending/runtime";
import type { Upstream } from "#sending/upstream";
import { LogError } from "#log/errors";
import { systemIdsAndTime } from "#store/prepare";
import { type Fault, simUpstream, SimWorld } from "#testing/index";
import { pacedUpstream } from "./pace.ts";
import type { Stage } from "./chat-printer.ts";
import { type ToldLink, withFidelity } from "#edges/cli/view/chain-view";

const AGENT = "sim";
const LEASE_MS = 15_000;

/** A world whose names no other run of the chat has given out: ids of lost sessions must not come back. */
class ChatWorld extends SimWorld {
  readonly #run: string = systemIdsAndTime.newId().slice(-6);

  override newName(what: string): string {
    return `${super.newName(what)}-${this.#run}`;
  }
}

/** A conversation, the agent it is held with, and what may be done to it. */
export class ChatSession {
  readonly #world = new ChatWorld({ startMs: Date.now() });
  readonly #holdfast: Holdfast;
  readonly #runtime: Runtime;
  readonly #upstream: Upstream;
  readonly #stage: Stage;
  #conversation: Conversation;
  #interrupted: boolean = false;

  private constructor(holdfast: Holdfast, id: Conversation, setting: Setting) {
    const { store } = holdfast;
    // Time waits for the store, so that an agent is not taken for silent while the disk works.
    this.#holdfast = new Holdfast(this.#world.store(store), setting.space);
    this.#conversation = id;
    this.#stage = setting.stage;
    this.#upstream = pacedUpstream(simUpstream(this.#world, { agent: AGENT }), this.#world, setting.paceMs);
    this.#runtime = new Runtime(this.#holdfast, {
      upstreams: [this.#upstream],
      clock: this.#world.clock,
      leaseMs: LEASE_MS,
    });
  }

  static async enter(holdfast: Holdfast, conversation: Conversation, setting: Setting): Promise<ChatSession> {
    const chatSession = new ChatSession(holdfast, conversation, setting);
    chatSession.#conversation = await chatSession.#holdfast.conversation(conversation.id);
    return chatSession;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Stops the running turn; false when none runs. */
  cancel(): boolean {
    return this.#runtime.cancel(this.#conversation.id);
  }

  /** As above, once in a turn: whoever asks again wants to leave. */
  interrupt(): boolean {
    if (this.#interrupted || !this.cancel()) return false;
    this.#interrupted = true;
    return true;
  }

  async send(text: string): Promise<void> {
    this.#interrupted = false;
    // The agent's time runs ahead while it works and stands still while nobody talks to it.
    await this.#world.timeline.pass(Math.max(0, Date.now() - this.#world.nowMs()));
    await this.#runtime.send(
      this.#conversation.id,
      { content: text },
      { onEvent: (event) => this.#stage.event(event) },
    );
  }

  /** Other words in place of a message of the person's; the last one unless told. */
  async edit(entry: string | null, text: string): Promise<void> {
    const before = await this.#conversation.branch();
    const last = before.findLast((one) => one.type === "message" && one.message.role === "user");
    const target = entry ?? last?.id;
    if (target === undefined) throw new LogError("invalid_request", "There is nothing to edit yet");
    const found = await this.#conversation.entry(target);
    if (found.type !== "message" || found.message.role !== "user")
      throw new LogError("invalid_request", `${target} is not a message of yours; nothing was changed`);
    const { fidelity } = await goBackTo(this.#conversation, this.#upstream, target, {
      clock: this.#world.clock,
    });
    this.#stage.notice(
      fidelity === "native"
        ? "What came after is off the branch; the agent cut its own session there."
        : "What came after is off the branch; the agent will be told what came before.",
    );
    await this.send(text);
  }

  /** Goes on in a fork; the conversation it was taken from stays as it is. */
  async fork(entry: string | null): Promise<Forked> {
    const forked = await forkAside(this.#conversation, this.#upstream, {
      clock: this.#world.clock,
      ...(entry === null ? {} : { at: entry }),
    });
    this.#conversation = forked.conversation;
    return forked;
  }

  async goTo(entry: string): Promise<void> {
    await this.#conversation.goTo(entry);
  }

  async startAnew(): Promise<void> {
    await newChat(this.#conversation);
  }

  async chain(): Promise<readonly ToldLink[]> {
    return withFidelity(await this.#conversation.chain(), await this.#conversation.facts(["attempt"]));
  }

  strike(fault: Fault): void {
    this.#world.script(fault);
  }
}

export interface Setting {
  readonly space: string;
  readonly stage: Stage;
  /** Between two pieces of an answer. */
  readonly paceMs: number;
}
