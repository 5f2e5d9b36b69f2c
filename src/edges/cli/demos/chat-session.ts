import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import type { ConversationId } from "#log/ids";
import { Runtime } from "#sending/runtime";
import type { PromptEvent, Upstream, UpstreamSession } from "#sending/upstream";
import { systemIdsAndTime } from "#store/prepare";
import { simUpstream, SimWorld } from "#testing/index";
import type { Printer } from "./printer.ts";

export const AGENT = "sim";
const LEASE_MS = 15_000;

/** A world whose names no other run of the chat has given out: ids of lost sessions must not come back. */
class ChatWorld extends SimWorld {
  readonly #run: string = systemIdsAndTime.newId().slice(-6);

  override newName(what: string): string {
    return `${super.newName(what)}-${this.#run}`;
  }
}

/** A conversation and the simulated agent it is held with. */
export class ChatSession {
  readonly world: SimWorld = new ChatWorld({ startMs: Date.now() });
  readonly upstream: Upstream;
  /** Another one after a fork. */
  conversation: Conversation;
  readonly #runtime: Runtime;
  readonly #printer: Printer;
  #interrupted: boolean = false;

  constructor(
    outer: Holdfast,
    id: ConversationId,
    how: { readonly printer: Printer; readonly paceMs: number },
  ) {
    // Time waits for the store, so that an agent is not taken for silent while the disk works.
    const holdfast = new Holdfast(this.world.store(outer.store), outer.spaceId);
    this.conversation = holdfast.unopened(id);
    this.upstream = pacedUpstream(this.world, how.paceMs);
    this.#printer = how.printer;
    const { clock } = this.world;
    this.#runtime = new Runtime(holdfast, { upstreams: [this.upstream], clock, leaseMs: LEASE_MS });
  }

  /** Stops the running turn; false when none runs. */
  cancel(): boolean {
    return this.#runtime.cancel(this.conversation.id);
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
    await this.world.timeline.pass(Math.max(0, Date.now() - this.world.nowMs()));
    const onEvent = this.#printer.event.bind(this.#printer);
    await this.#runtime.send(this.conversation.id, text, { onEvent });
  }
}

/** The simulated agent, speaking at a pace that can be read, during which its own time stands still. */
export function pacedUpstream(world: SimWorld, paceMs: number): Upstream {
  const upstream = simUpstream(world, { agent: AGENT });
  if (paceMs === 0) return upstream;
  const slowly = async function* (events: AsyncIterable<PromptEvent>): AsyncGenerator<PromptEvent> {
    for await (const event of events) {
      await world.timeline.freeze(sleep(event.type === "text" ? paceMs : paceMs * 4));
      yield event;
    }
  };
  const paced = (session: UpstreamSession): UpstreamSession => ({
    id: session.id,
    shown: session.shown,
    get process() {
      return session.process;
    },
    prompt: (request) => slowly(session.prompt(request)),
    cancel: () => session.cancel(),
    close: () => session.close(),
  });
  return {
    ...upstream,
    open: async (settings) => paced(await upstream.open(settings)),
    resume: async (id, settings) => paced(await upstream.resume(id, settings)),
    fork: async (id, settings, keepTurns) => paced(await upstream.fork(id, settings, keepTurns)),
  };
}
