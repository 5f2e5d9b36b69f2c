import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { forkAside, goBackTo } from "#upstream/forks/fork-aside";
import { Runtime } from "#upstream/runtime";
import type { SendResult } from "#upstream/finish-turn";
import type { Host } from "#turn/host";
import type { PromptEvent, Upstream, UpstreamSession } from "#upstream/upstream";
import { systemIdsAndTime } from "#store/prepare";
import {
  FAULT_KINDS,
  FAULT_PHASES,
  type FaultKind,
  type Phase,
  PHASES,
  simUpstream,
  SimWorld,
} from "#testing/index";
import { chainRows } from "#edges/cli/view/chain-view";
import { withFidelity } from "#transfer/shown/told-links";
import type { ChatSession } from "./chat-session.ts";
import type { Printer } from "#edges/cli/terminal/printer";

export const AGENT = "sim";
// What it uses is counted under a name, and costs nothing; a model of that name is not asked.
const MODEL_NAME = "sim-agent";
const LEASE_MS = 15_000;

/** A world whose names no other run of the chat has given out: ids of lost sessions must not come back. */
class ChatWorld extends SimWorld {
  readonly #run: string = systemIdsAndTime.newId().slice(-6);

  override newName(what: string): string {
    return `${super.newName(what)}-${this.#run}`;
  }
}

const LIMIT_MS = 10_000; // long enough to see it parked, short enough to wait for

const HELP = {
  talk: `Talk to the agent. It is simulated and understands, one to a line or parted by ";":
  remember NAME=VALUE     recall NAME     email WHO about WHAT     work STEPS
Everything else it repeats.`,
  orders: `  /chain               the sessions this conversation has held
  /fault KIND [PHASE]  lets a fault strike next: ${FAULT_KINDS.slice(0, 6).join(" ")}
                       ${FAULT_KINDS.slice(6).join(" ")}`,
};

/** A conversation and the simulated agent it is held with. */
export class SimSession implements ChatSession {
  readonly isAsking: boolean = false;
  readonly isWaiting: boolean = false;
  readonly help: ChatSession["help"] = HELP;
  readonly orders: ChatSession["orders"];
  readonly #world: SimWorld = new ChatWorld({ startMs: Date.now() });
  conversation: Conversation;
  readonly #upstream: Upstream;
  readonly #runtime: Runtime;
  readonly #printer: Printer | null;
  constructor(
    outer: Holdfast,
    id: ConversationId,
    how: { readonly printer?: Printer; readonly paceMs: number },
  ) {
    // Time waits for the store, so that an agent is not taken for silent while the disk works.
    const holdfast = new Holdfast(this.#world.store(outer.store), outer.spaceId);
    this.conversation = holdfast.handle(id);
    this.#upstream = pacedUpstream(this.#world, how.paceMs);
    this.#printer = how.printer ?? null;
    const { clock } = this.#world;
    this.orders = {
      model: ({ printer }) =>
        printer.notice(
          `The simulated agent answers here. \`holdfast chat ${this.conversation.id} --model PROVIDER/NAME\` goes on with a model.`,
        ),
      fault: ({ printer }, rest) => {
        const [kind = "", phase] = rest.split(/\s+/);
        const fault = faultOf(kind, phase);
        this.#world.script({ ...fault, resetMs: LIMIT_MS });
        printer.fault(`${fault.kind} will strike (${fault.phase})`);
      },
      chain: async ({ printer }) => {
        const links = withFidelity(
          await this.conversation.chain(),
          await this.conversation.facts(["attempt"]),
        );
        printer.rows(links.length === 0 ? ["No session has been held yet."] : chainRows(links, true));
      },
    };
    this.#runtime = new Runtime(holdfast, { upstreams: [this.#upstream], clock, leaseMs: LEASE_MS });
  }

  /** Stops the running turn; false when none runs. */
  cancel(): boolean {
    return this.#runtime.cancel(this.conversation.id);
  }

  async fork(at: EntryId | null): ReturnType<ChatSession["fork"]> {
    const more = { clock: this.#world.clock, ...(at === null ? {} : { at }) };
    const { conversation, fidelity, editable } = await forkAside(this.conversation, this.#upstream, more);
    return { conversation, editable, how: fidelity === "native" ? "the agent forked its own session" : TOLD };
  }

  async goTo(entry: EntryId): Promise<{ readonly how: string }> {
    await this.conversation.goTo(entry);
    return { how: TOLD };
  }

  async goBackTo(entry: EntryId): Promise<{ readonly how: string }> {
    const { clock } = this.#world;
    const { fidelity } = await goBackTo(this.conversation, this.#upstream, entry, { clock });
    return { how: fidelity === "native" ? "the agent cut its own session there" : TOLD };
  }

  async send(text: string): Promise<void> {
    await this.ask(text, { onEvent: (event) => this.#printer?.event(event) });
  }

  /** The same for whoever wants to know what came of it. */
  async ask(text: string, host: Host): Promise<SendResult> {
    // The agent's time runs ahead while it works and stands still while nobody talks to it.
    await this.#world.timeline.pass(Math.max(0, Date.now() - this.#world.nowMs()));
    return this.#runtime.send(this.conversation.id, text, host);
  }
}

const TOLD = "the agent will be told what came before";

function faultOf(
  kind: string,
  phase: string | undefined,
): { readonly kind: FaultKind; readonly phase: Phase } {
  const known = FAULT_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new LogError("invalid_request", `/fault wants one of: ${FAULT_KINDS.join(", ")}`);
  const phases: readonly Phase[] = FAULT_PHASES[known];
  const usual = (["start", "idle"] as const).find((one) => phases.includes(one)) ?? phases[0];
  const chosen = PHASES.find((one) => one === (phase ?? usual));
  if (chosen === undefined || !phases.includes(chosen))
    throw new LogError("invalid_request", `A ${known} strikes in: ${phases.join(", ")}`);
  return { kind: known, phase: chosen };
}

/** The simulated agent, speaking at a pace that can be read, during which its own time stands still. */
export function pacedUpstream(world: SimWorld, paceMs: number): Upstream {
  const upstream = simUpstream(world, { agent: AGENT });
  const slowly = async function* (events: AsyncIterable<PromptEvent>): AsyncGenerator<PromptEvent> {
    for await (const event of events) {
      if (paceMs > 0) await world.timeline.freeze(sleep(event.type === "text" ? paceMs : paceMs * 4));
      yield event;
    }
  };
  const paced = (session: UpstreamSession): UpstreamSession => ({
    id: session.id,
    shown: session.shown,
    model: MODEL_NAME,
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
