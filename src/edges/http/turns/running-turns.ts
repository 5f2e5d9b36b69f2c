import type { Conversation } from "#conversation/conversation";
import type { OnError } from "#edges/http/server-log";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Host, HostEvent } from "#turn/host";
import type { EndedTurn, Turns } from "#turn/turns";
import { Refusal } from "#edges/http/guard/failures";
import { isAbandoned } from "#transfer/listed/listed-state";
import { LiveListeners, TurnWords } from "#edges/http/events/live-words";
import type { CancelRequest, CancelRequests } from "./cancel-requests.ts";
import type { AgentSource, AgentSources } from "./agent-source.ts";

/** A turn that is in the log: it goes on whether or not anybody listens. */
export interface BegunTurn {
  readonly turn: string;
  readonly prompt: string;
  /** The last entry before what it writes; null: it was asked for under its key before. */
  readonly after: number | null;
  /** It had not ended, and goes on. */
  readonly resumed: boolean;
  /** Whether it was asked for with other words before. */
  readonly differs: boolean;
}

/** Which agent is meant, and what it is asked with. */
interface Chosen {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

const BEGUN_KNOWN = 1_000;
const STOP_MS = 30_000; // how long whoever stops a turn elsewhere waits for its end
const REST_MS = 30_000;

/** Where a turn is to be carried, and by whom. */
export interface TurnPlace {
  readonly holdfast: Holdfast;
  readonly conversation: string;
  readonly chosen: Chosen;
}

interface RunningTurn extends TurnPlace {
  readonly agent: Turns;
  /** Null until it is in the log. */
  turn: string | null;
  ended: Promise<unknown>;
}

/** The agents of a server, each once for every space, and the turns that they carry. */
export class RunningTurns {
  readonly #sources: AgentSources;
  readonly #onError: OnError;
  readonly #agents = new Map<string, Promise<Turns>>();
  readonly #running = new Set<RunningTurn>();
  readonly #cancels: CancelRequests;
  /** The last entry before each turn that was begun here, the oldest turn first. */
  readonly #begun = new Map<string, number>();
  #resting: NodeJS.Timeout | undefined;
  /** Who hears what is said here before the log has it. */
  readonly listeners: LiveListeners = new LiveListeners();

  constructor(sources: AgentSources, cancels: CancelRequests, onError: OnError) {
    this.#sources = sources;
    this.#cancels = cancels;
    this.#onError = onError;
  }

  get size(): number {
    return this.#running.size;
  }

  get names(): readonly string[] {
    return Object.keys(this.#sources);
  }

  /** All that a client may choose from. */
  get sources(): AgentSources {
    return this.#sources;
  }

  /** The agent that is named, in this space. */
  agent(holdfast: Holdfast, chosen: Chosen = {}): Promise<Turns> {
    const { name, source } = this.#source(chosen);
    const key = `${holdfast.spaceId}/${name}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const opening = Promise.resolve(source.open(holdfast));
    opening.catch(() => this.#agents.delete(key));
    this.#agents.set(key, opening);
    return opening;
  }

  /** Those that were asked for in this space. */
  async #opened(holdfast: Holdfast): Promise<readonly Turns[]> {
    const prefix = `${holdfast.spaceId}/`;
    return Promise.all([...this.#agents].flatMap(([key, agent]) => (key.startsWith(prefix) ? [agent] : [])));
  }

  #source({ agent, model }: Chosen): { readonly name: string; readonly source: AgentSource } {
    const [first] = this.names;
    if (first === undefined)
      throw new Refusal("no_agent", "This server has no agent that could carry a turn");
    const name = agent ?? first;
    const source = this.source(name);
    const { models = [] } = source;
    if (model !== undefined && !models.includes(model))
      throw new LogError("invalid_request", `The model ${model} may not be chosen here`, {
        models: [...models],
      });
    return { name, source };
  }

  /** The agent of this name. */
  source(name: string): AgentSource {
    const source = Object.hasOwn(this.#sources, name) ? this.#sources[name] : undefined;
    if (source !== undefined) return source;
    throw new LogError("invalid_request", `There is no agent ${name}; there is ${this.names.join(", ")}`, {
      agent: name,
    });
  }

  /** Resolves once the turn is in the log, or cannot be begun. It is carried on by itself. */
  async begin(place: TurnPlace, carry: (agent: Turns, host: Host) => Promise<EndedTurn>): Promise<BegunTurn> {
    const agent = await this.agent(place.holdfast, place.chosen);
    // Who cannot hear that it is to stop carries the turn all the same.
    await this.#cancels.follow((request) => this.#stop(request)).catch(this.#onError);
    const begun = Promise.withResolvers<BegunTurn>();
    const running: RunningTurn = { ...place, agent, turn: null, ended: Promise.resolve() };
    const words = new TurnWords();
    const onEvent = (event: HostEvent): void => {
      const said = words.heard(event, running.turn);
      if (said !== null) this.listeners.tell(place.holdfast.spaceId, said);
      if (event.type !== "accepted" || running.turn !== null) return;
      running.turn = event.turn;
      const { turn, prompt, after, resumed } = event;
      this.#begun.set(nameOf(place.holdfast, place.conversation, turn), after);
      const [oldest] = this.#begun.keys();
      if (this.#begun.size > BEGUN_KNOWN && oldest !== undefined) this.#begun.delete(oldest);
      begun.resolve({ turn, prompt, after, resumed, differs: false });
    };
    running.ended = carry(agent, { onEvent }).then(
      ({ turn, prompt, repeated }) =>
        begun.resolve({ turn, prompt, after: null, resumed: false, differs: repeated?.differs ?? false }),
      (error: unknown) => {
        // What became of a turn that was begun is in the log; only that it could not be recorded is not.
        const { conversation, turn } = running;
        if (turn !== null) this.#onError(error, { space: place.holdfast.spaceId, conversation, turn });
        begun.reject(error);
      },
    );
    this.#running.add(running);
    void running.ended.finally(() => this.#over(running));
    return begun.promise;
  }

  /** Whether the turn was begun here, and all of it lies behind this seq. */
  hasBegun({ holdfast, conversation }: Omit<TurnPlace, "chosen">, turn: string, after: number): boolean {
    const known = this.#begun.get(nameOf(holdfast, conversation, turn));
    return known !== undefined && after <= known;
  }

  #over(running: RunningTurn): void {
    this.#running.delete(running);
    // A process that carries nothing has nothing to be told to stop.
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#running.size === 0 && this.#cancels.stop(), REST_MS);
    this.#resting.unref();
  }

  #stop({ space, conversation, turn }: CancelRequest): void {
    for (const running of this.#running)
      if (
        running.turn === turn &&
        running.conversation === conversation &&
        running.holdfast.spaceId === space
      )
        running.agent.cancel(conversation);
  }

  /** Stops the turn that runs in a conversation, in whichever process; false when none does, or it does not stop. */
  async cancel(holdfast: Holdfast, conversation: Conversation, gone: AbortSignal): Promise<boolean> {
    const agents = await this.#opened(holdfast);
    const isHere = agents.map((agent) => agent.cancel(conversation.id)).includes(true);
    if (isHere) return true;
    const { headSeq: after } = await conversation.head();
    const open = await conversation.openTurn();
    if (open === null || open.lease === null || (await isAbandoned(holdfast, open))) return false;
    await this.#cancels.ask({ space: holdfast.spaceId, conversation: conversation.id, turn: open.turn });
    const signal = AbortSignal.any([gone, AbortSignal.timeout(STOP_MS)]);
    for await (const entry of conversation.tail({ after, signal }))
      if (entry.type === "turn_end" && entry.turn === open.turn) return entry.outcome === "interrupted";
    return false;
  }

  /** Waits for what runs, for so long; then stops it, which is recorded. */
  async drain(graceMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, graceMs);
    await Promise.race([this.#settled(), over.promise]);
    clearTimeout(timer);
    for (const agent of await Promise.allSettled(this.#agents.values()))
      if (agent.status === "fulfilled") await agent.value.close().catch(this.#onError);
    await this.#settled();
    clearTimeout(this.#resting);
    this.#cancels.stop();
  }

  #settled(): Promise<unknown> {
    return Promise.allSettled([...this.#running].map(({ ended }) => ended));
  }
}

function nameOf({ spaceId }: Holdfast, conversation: string, turn: string): string {
  return `${spaceId}/${conversation}/${turn}`;
}
