import type { Conversation } from "#conversation/conversation";
import type { OnError } from "#edges/http/server-log";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { AgentChoice, AgentView, TurnAgents, TurnPlace } from "#operations/operation";
import type { Host, HostEvent } from "#turn/host";
import type { EndedTurn, Turns } from "#turn/turns";
import { Refusal } from "#edges/http/guard/failures";
import { isAbandoned } from "#transfer/views/conversation-state";
import { LiveListeners, TurnWords } from "#edges/http/events/live-words";
import type { CancelRequest, CancelRequests } from "./cancel-requests.ts";
import type { AgentSource, AgentSources } from "./agent-source.ts";

const BEGUN_KNOWN = 1_000;
const STOP_MS = 30_000; // how long whoever stops a turn elsewhere waits for its end
const REST_MS = 30_000;

interface RunningTurn extends TurnPlace {
  readonly agent: Turns;
  /** Null until it is in the log. */
  turn: string | null;
  ended: Promise<unknown>;
}

/** The agents of a server, each once for every space, and the turns that they carry. */
export class RunningTurns implements TurnAgents {
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
  list(): readonly AgentView[] {
    return Object.entries(this.#sources).map(([agent, { models = [], faults }]) =>
      faults === undefined ? { agent, models } : { agent, models, troubles: faults.kinds },
    );
  }

  /** The agent that is named, in this space. */
  agent(holdfast: Holdfast, choice: AgentChoice = {}): Promise<Turns> {
    const { name, source } = this.#source(choice);
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

  #source({ agent, model }: AgentChoice): { readonly name: string; readonly source: AgentSource } {
    const [first] = this.names;
    if (first === undefined) throw new Refusal("no_agent", "This server has no agent to run turns");
    const name = agent ?? first;
    const source = this.source(name);
    const { models = [] } = source;
    if (model !== undefined && !models.includes(model))
      throw new LogError("invalid_request", `Model ${model} is not allowed on this server`, {
        models: [...models],
      });
    return { name, source };
  }

  /** The agent of this name. */
  source(name: string): AgentSource {
    const source = Object.hasOwn(this.#sources, name) ? this.#sources[name] : undefined;
    if (source !== undefined) return source;
    throw new LogError("invalid_request", `Unknown agent "${name}". Use one of ${this.names.join(", ")}.`, {
      agent: name,
    });
  }

  async run(place: TurnPlace, run: (turns: Turns, host: Host) => Promise<EndedTurn>): Promise<EndedTurn> {
    const agent = await this.agent(place.holdfast, place.choice);
    // Who cannot hear that it is to stop carries the turn all the same.
    await this.#cancels.follow((request) => this.#stop(request)).catch(this.#onError);
    const running: RunningTurn = { ...place, agent, turn: null, ended: Promise.resolve() };
    const words = new TurnWords();
    const onEvent = (event: HostEvent): void => {
      const said = words.heard(event, running.turn);
      if (said !== null) this.listeners.tell(place.holdfast.spaceId, said);
      if (event.type !== "accepted" || running.turn !== null) return;
      running.turn = event.turn;
      this.#begun.set(nameOf(place.holdfast, place.conversation, event.turn), event.after);
      const [oldest] = this.#begun.keys();
      if (this.#begun.size > BEGUN_KNOWN && oldest !== undefined) this.#begun.delete(oldest);
    };
    const ended = run(agent, { onEvent });
    running.ended = ended;
    this.#running.add(running);
    try {
      return await ended;
    } catch (error) {
      // What became of a turn that was begun is in the log; only that it could not be recorded is not.
      const { conversation, turn } = running;
      if (turn !== null) this.#onError(error, { space: place.holdfast.spaceId, conversation, turn });
      throw error;
    } finally {
      this.#over(running);
    }
  }

  /** Whether the turn was begun here, and all of it lies behind this seq. */
  hasBegun({ holdfast, conversation }: Omit<TurnPlace, "choice">, turn: string, after: number): boolean {
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
  async cancel(holdfast: Holdfast, conversation: Conversation, gone?: AbortSignal): Promise<boolean> {
    const agents = await this.#opened(holdfast);
    const isHere = agents.map((agent) => agent.cancel(conversation.id)).includes(true);
    if (isHere) return true;
    const { headSeq: after } = await conversation.head();
    const open = await conversation.openTurn();
    if (open === null || open.lease === null || (await isAbandoned(holdfast, open))) return false;
    await this.#cancels.ask({ space: holdfast.spaceId, conversation: conversation.id, turn: open.turn });
    const signal = AbortSignal.any([...(gone === undefined ? [] : [gone]), AbortSignal.timeout(STOP_MS)]);
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
