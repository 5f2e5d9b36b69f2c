import type { SimUpstream } from "#testing/agent/simulated-upstream";
import type { Fault } from "#testing/faults";
import { Holdfast } from "#conversation/holdfast";
import type { PromptContent } from "#turn/accept";
import type { Host, HostEvent } from "#turn/host";
import type { RuntimeOptions, SendOptions } from "#upstream/options";
import { Runtime } from "#upstream/runtime";
import type { SendResult } from "#upstream/finish-turn";
import type { Upstream, UpstreamSession } from "#upstream/upstream";
import { simUpstream, type SimUpstreamOptions, SimWorld } from "#testing/index";
import type { Entry } from "#log/entry";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";

type More = Partial<Omit<RuntimeOptions, "upstreams" | "clock" | "newId">>;

/** One living host. */
interface SimHost {
  readonly holdfast: Holdfast;
  readonly runtime: Runtime;
  readonly upstreams: readonly SimUpstream[];
}

/** A host with simulated agents, over a memory store unless given another; its world and its store survive `restart`. */
export class Rig {
  readonly world: SimWorld;
  readonly events: HostEvent[] = [];
  /** Answers requests for a login; undefined: this host cannot ask. */
  login: ((message: string) => Promise<boolean>) | undefined;
  /** Answers whether the next agent should carry on; undefined: this host cannot ask. */
  limit: Host["onLimit"] | undefined;
  /** Answers whether what makes every request fail is to be hidden; undefined: this host cannot ask. */
  poisoned: Host["onPoisoned"] | undefined;
  /** What the store answers to every append instead of doing it. */
  fail: Error | null = null;
  holdfast: Holdfast;
  runtime: Runtime;
  upstreams: readonly SimUpstream[];
  /** Another living host over the same store, with agents of its own. */
  other: SimHost | null = null;
  #life: number = 0;
  readonly #two: boolean;
  readonly #agents: readonly SimUpstreamOptions[];
  readonly #more: More;
  readonly #beforePrompt: ((rig: Rig) => Promise<void>) | undefined;
  readonly #open: (world: SimWorld) => Store;
  readonly #around: (upstream: Upstream) => Upstream;
  readonly #watchers = new Set<(event: HostEvent) => void>();

  constructor(
    options: {
      readonly agents?: readonly SimUpstreamOptions[];
      readonly more?: More;
      readonly seed?: number;
      readonly world?: SimWorld;
      /** Whether there is another host. */
      readonly two?: boolean;
      beforePrompt?(rig: Rig): Promise<void>;
      /** Opens the store for one life of the host. */
      open?(world: SimWorld): Store;
      /** Stands between the host and an agent. */
      around?(upstream: Upstream): Upstream;
    } = {},
  ) {
    this.world = options.world ?? new SimWorld({ seed: options.seed ?? 1 });
    this.#agents = options.agents ?? [{ agent: "claude" }];
    this.#more = options.more ?? {};
    this.#two = options.two ?? false;
    this.#beforePrompt = options.beforePrompt?.bind(options);
    const backing = inMemoryBacking();
    this.#open =
      options.open?.bind(options) ?? ((world) => inMemoryStore({ backing, nowMs: () => world.nowMs() }));
    this.#around = options.around?.bind(options) ?? ((upstream) => upstream);
    ({ holdfast: this.holdfast, runtime: this.runtime, upstreams: this.upstreams } = this.#start());
  }

  #start(): SimHost {
    this.#life++;
    const store = this.world.store(this.#failing(this.#open(this.world)));
    this.other = this.#two ? this.#host(store, "other") : null;
    return this.#host(store, "main");
  }

  #host(store: Store, home: string): SimHost {
    const { world } = this;
    const holdfast = new Holdfast(store, "default", world.idsAndTime);
    const own = home === "main" ? {} : { home };
    const upstreams = this.#agents.map((agent) => simUpstream(world, { ...agent, ...own }));
    const [first, ...others] = upstreams.map((upstream) => this.#around(this.#watched(upstream)));
    if (first === undefined) throw new RangeError("A rig needs an agent");
    const newId = (): string => world.idsAndTime.newId();
    const runtime = new Runtime(holdfast, {
      upstreams: [first, ...others],
      clock: world.clock,
      newId,
      ...this.#name(home),
      ...this.#more,
    });
    return { holdfast, runtime, upstreams };
  }

  /** Hosts are known by name and life, so that nobody waits for one that was killed. */
  #name(home: string): More {
    const isDead = async (writer: string): Promise<boolean> => Number(writer.split("-")[1]) < this.#life;
    return { writer: `${home}-${this.#life}`, isDead };
  }

  /** Which life of the host this is. */
  get life(): number {
    return this.#life;
  }

  #failing(store: Store): Store {
    const failing = (space: SpaceStore): SpaceStore => ({
      ...space,
      append: async (request) => (this.fail === null ? space.append(request) : Promise.reject(this.fail)),
    });
    return { ...store, space: (id) => failing(store.space(id)) };
  }

  /** The agent, with a look at the world in the moment a prompt reaches it. */
  #watched(upstream: SimUpstream): Upstream {
    const look = this.#beforePrompt;
    if (look === undefined) return upstream;
    const watch = (session: UpstreamSession): UpstreamSession => ({
      id: session.id,
      transcript: session.transcript,
      get process() {
        return session.process;
      },
      prompt: (request) => lookFirst(() => look(this), session.prompt(request)),
      cancel: () => session.cancel(),
      close: () => session.close(),
    });
    return {
      ...upstream,
      open: async (settings) => watch(await upstream.open(settings)),
      resume: async (id, settings) => watch(await upstream.resume(id, settings)),
    };
  }

  /** Kills the host and starts it again over the same store. */
  restart(options: { readonly orphans?: boolean } = {}): void {
    this.world.kill(options);
    ({ holdfast: this.holdfast, runtime: this.runtime, upstreams: this.upstreams } = this.#start());
  }

  async create(id: string = "c"): Promise<void> {
    await this.holdfast.create({ id, cwd: "/work" });
  }

  send(
    content: PromptContent,
    more: SendOptions & { readonly to?: string; readonly via?: "main" | "other" } = {},
  ): Promise<SendResult> {
    const { to = "c", via = "main", ...request } = more;
    return this.runtimeOf(via).send(to, content, { ...request, ...this.host });
  }

  /** Sends the last prompt once more. */
  retry(
    more: SendOptions & { readonly to?: string; readonly via?: "main" | "other" } = {},
  ): Promise<SendResult> {
    const { to = "c", via = "main", ...request } = more;
    return this.runtimeOf(via).retry(to, { ...request, ...this.host });
  }

  runtimeOf(via: "main" | "other"): Runtime {
    return via === "other" ? (this.other?.runtime ?? this.runtime) : this.runtime;
  }

  /** Whoever watches. */
  get host(): Host {
    const [onAuth, onLimit, onPoisoned] = [this.login, this.limit, this.poisoned];
    const onEvent = (event: HostEvent): void => {
      this.events.push(event);
      for (const watcher of this.#watchers) watcher(event);
    };
    return {
      onEvent,
      ...(onAuth === undefined ? {} : { onAuth }),
      ...(onLimit === undefined ? {} : { onLimit }),
      ...(onPoisoned === undefined ? {} : { onPoisoned }),
    };
  }

  /** Resolves at the first event that fits, having acted on it in the same breath. */
  when(fits: (event: HostEvent) => boolean, act: () => void = () => undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = (event: HostEvent): void => {
      if (!fits(event)) return;
      this.#watchers.delete(watcher);
      act();
      resolve();
    };
    this.#watchers.add(watcher);
    return promise;
  }

  /** Sends, kills the host at the first event that fits, and starts it again. */
  async dieDuring(
    prompt: string,
    fits: (event: HostEvent) => boolean,
    options: { readonly orphans?: boolean } = {},
  ): Promise<void> {
    const dead = this.when(fits, () => this.restart(options));
    void this.send(prompt);
    await dead;
  }

  /** Sends and gives the answer's words; one prompt after the other. */
  async say(...prompts: readonly string[]): Promise<string> {
    let text = "";
    for (const prompt of prompts) ({ text } = await this.send(prompt));
    return text;
  }

  script(...faults: readonly Fault[]): void {
    this.world.script(...faults);
  }

  async log(id: string = "c"): Promise<readonly Entry[]> {
    const conversation = await this.holdfast.conversation(id);
    return conversation.facts(ALL);
  }

  async of<T extends Entry["type"]>(
    type: T,
    id: string = "c",
  ): Promise<readonly Extract<Entry, { type: T }>[]> {
    const entries = await this.log(id);
    return entries.filter((entry): entry is Extract<Entry, { type: T }> => entry.type === type);
  }

  /** The chain in short: `id:reason`. */
  async chain(id: string = "c"): Promise<readonly string[]> {
    const conversation = await this.holdfast.conversation(id);
    return (await conversation.chain()).map((link) => link.reason);
  }

  /** What an upstream was asked, in short: `verb` or `verb session`. */
  asked(at: number = 0): readonly string[] {
    return (this.upstreams[at]?.requests ?? []).map(({ verb }) => verb);
  }

  told<T extends HostEvent["type"]>(type: T): readonly Extract<HostEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<HostEvent, { type: T }> => event.type === type);
  }

  /** Everything that was ever said to an agent in any session, newest session last. */
  transcripts(): readonly string[] {
    return this.world.sessions.map((session) =>
      (this.world.transcript(session) ?? []).map((line) => `${line.role}: ${line.text}`).join("\n"),
    );
  }
}

const ALL: readonly Entry["type"][] = [
  "message",
  "turn_start",
  "turn_end",
  "attempt",
  "attempt_end",
  "upstream_link",
  "upstream_end",
  "tool_intent",
  "update",
  "steer",
  "hide",
  "reset",
  "leaf",
  "model_change",
  "config_change",
];

export async function aRig(options: ConstructorParameters<typeof Rig>[0] = {}): Promise<Rig> {
  const rig = new Rig(options);
  await rig.create();
  return rig;
}

export const isText = (event: HostEvent): boolean => event.type === "update" && event.event.type === "text";

export const isTool =
  (state: "started" | "done") =>
  (event: HostEvent): boolean =>
    event.type === "update" && event.event.type === "tool" && event.event.state === state;

async function* lookFirst<T>(look: () => Promise<void>, events: AsyncIterable<T>): AsyncGenerator<T> {
  await look();
  yield* events;
}
