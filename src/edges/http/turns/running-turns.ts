import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Host, HostEvent } from "#turn/host";
import { Refusal } from "#edges/http/guard/failures";
import type { AgentSource, AgentSources, CarriedTurn, ServedAgent } from "./served-agent.ts";

/** A turn that is in the log: it goes on whether or not anybody listens. */
export interface BegunTurn {
  readonly turn: string;
  readonly prompt: string;
  /** It was asked for under its key before; whether with other words. */
  readonly repeated: { readonly differs: boolean } | null;
}

/** Which agent is meant, and what it is asked with. */
interface Chosen {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

interface TroubleAsked {
  readonly agent: string;
  readonly kind: string;
  readonly phase?: string | undefined;
  readonly key: string | undefined;
}

const STRIKES_KNOWN = 1_000;

/** The agents of a server, each once for every space, and the turns that they carry. */
export class RunningTurns {
  readonly #sources: AgentSources;
  readonly #onError: (error: unknown) => void;
  readonly #agents = new Map<string, Promise<ServedAgent>>();
  readonly #running = new Set<Promise<unknown>>();
  /** By space, agent and key: troubles are of this process, and so is what is known of them. */
  readonly #struck = new Map<string, Promise<{ readonly phase: string }>>();

  constructor(sources: AgentSources, onError: (error: unknown) => void) {
    this.#sources = sources;
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
  agent(holdfast: Holdfast, chosen: Chosen = {}): Promise<ServedAgent> {
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
  async opened(holdfast: Holdfast): Promise<readonly ServedAgent[]> {
    const prefix = `${holdfast.spaceId}/`;
    return Promise.all([...this.#agents].flatMap(([key, agent]) => (key.startsWith(prefix) ? [agent] : [])));
  }

  #source({ agent, model }: Chosen): { readonly name: string; readonly source: AgentSource } {
    const [first] = this.names;
    if (first === undefined)
      throw new Refusal("no_agent", "This server has no agent that could carry a turn");
    const name = agent ?? first;
    const source = Object.hasOwn(this.#sources, name) ? this.#sources[name] : undefined;
    if (source === undefined)
      throw new LogError("invalid_request", `There is no agent ${name}; there is ${this.names.join(", ")}`, {
        agent: name,
      });
    const { models = [] } = source;
    if (model !== undefined && !models.includes(model))
      throw new LogError("invalid_request", `The model ${model} may not be chosen here`, {
        models: [...models],
      });
    return { name, source };
  }

  /** Lets the agent of this space run into trouble, once under a key. */
  async strike(
    holdfast: Holdfast,
    { agent: name, kind, phase, key }: TroubleAsked,
  ): Promise<{ readonly phase: string; readonly deduped: boolean }> {
    const { troubles = [] } = this.#source({ agent: name }).source;
    const agent = await this.agent(holdfast, { agent: name });
    if (agent.strike === undefined || !troubles.includes(kind))
      throw new LogError("invalid_request", `The agent ${name} cannot be made to go through that`, {
        troubles: [...troubles],
      });
    const id = `${holdfast.spaceId}/${name}/${key}`;
    const before = key === undefined ? undefined : this.#struck.get(id);
    if (before !== undefined) return { ...(await before), deduped: true };
    const struck = agent.strike({ kind, ...(phase === undefined ? {} : { phase }) });
    if (key !== undefined) this.#remember(id, struck);
    return { ...(await struck), deduped: false };
  }

  #remember(id: string, struck: Promise<{ readonly phase: string }>): void {
    this.#struck.set(id, struck);
    struck.catch(() => this.#struck.delete(id));
    const [oldest] = this.#struck.keys();
    if (this.#struck.size > STRIKES_KNOWN && oldest !== undefined) this.#struck.delete(oldest);
  }

  /** Resolves once the turn is in the log, or cannot be begun. It is carried on by itself. */
  async begin(carry: (host: Host) => Promise<CarriedTurn>): Promise<BegunTurn> {
    const begun = Promise.withResolvers<BegunTurn>();
    let isAccepted = false;
    const onEvent = (event: HostEvent): void => {
      if (event.type !== "accepted" || isAccepted) return;
      isAccepted = true;
      begun.resolve({ turn: event.turn, prompt: event.prompt, repeated: null });
    };
    const carried = carry({ onEvent }).then(
      ({ turn, prompt, repeated = null }) => begun.resolve({ turn, prompt, repeated }),
      (error: unknown) => {
        // What became of a turn that was begun is in the log; only that it could not be recorded is not.
        if (isAccepted) this.#onError(error);
        begun.reject(error);
      },
    );
    this.#running.add(carried);
    void carried.finally(() => this.#running.delete(carried));
    return begun.promise;
  }

  /** Waits for what runs, for so long; then stops it, which is recorded. */
  async drain(graceMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, graceMs);
    await Promise.race([Promise.allSettled(this.#running), over.promise]);
    clearTimeout(timer);
    for (const agent of await Promise.allSettled(this.#agents.values()))
      if (agent.status === "fulfilled") await agent.value.close().catch(this.#onError);
    await Promise.allSettled(this.#running);
  }
}
