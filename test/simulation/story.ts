import { emailIdentity } from "#testing/agent/replies";
import { assistant } from "#log/message";
import type { HostEvent } from "#turn/host";
import type { Upstream } from "#upstream/upstream";
import { draw, type Chance, type FaultKind, AppendFaults } from "#testing/faults";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { FAULT_KINDS, FAULT_PHASES } from "#testing/index";
import { Rig } from "../upstream/rig.ts";
import { AgentWatch } from "./agent-watch.ts";
import { asAcp } from "./as-acp.ts";
import { agentsOf, asks, isInside, isReplayed, loopShare, resumes, signsOut, wireOf } from "./cast.ts";
import { accountName, type StoryWitness } from "./story-rules.ts";
import { LoopHosts } from "./loop-hosts.ts";
import { Person } from "./person.ts";
import { homeOf, type StoreName } from "./stores.ts";

/** Every fault in every phase it can strike in, each as likely as the others. */
export function everything(
  probability: number,
  kinds: readonly FaultKind[] = FAULT_KINDS,
): readonly Chance[] {
  return kinds.flatMap((kind) =>
    FAULT_PHASES[kind].flatMap((phase): Chance[] => {
      const chance = { kind, phase, probability, resetMs: 600_000 };
      if (kind === "crash") return [chance, { ...chance, effect: false }, { ...chance, orphan: true }];
      if (kind === "roll") return [chance, { ...chance, renamed: true }];
      return kind === "hang" ? [chance, { ...chance, heedsCancel: false }] : [chance];
    }),
  );
}

export interface StoryOptions {
  readonly seed: number;
  readonly people: number;
  /** Prompts each of them makes at least. */
  readonly prompts: number;
  readonly probability: number;
  readonly store?: StoreName;
  readonly faults?: readonly FaultKind[];
  /** Whether the host is killed now and then. It is, unless said otherwise. */
  readonly kills?: boolean;
  /** Stands between the host and an agent. */
  around?(upstream: Upstream): Upstream;
  /** Looks at what is left in the end. */
  look?(rig: Rig): Promise<void>;
}

export interface Story {
  readonly violations: readonly string[];
  /** How often each fault struck, as `kind/phase`. */
  readonly struck: ReadonlyMap<string, number>;
  /** How often the host was killed or refused, as `moment/landed`, `/lost` or `/refused`, or `between/appends`. */
  readonly kills: ReadonlyMap<string, number>;
  readonly outcomes: ReadonlyMap<string, number>;
  /** What the loops of the hosts did and met. */
  readonly loops: ReadonlyMap<string, number>;
  readonly turns: number;
  readonly forks: number;
}

const BOUNDS = { silenceMs: 30_000, toolSilenceMs: 60_000, cancelMs: 2_000, resumeMs: 10_000 };
const PAUSE_MS = 1_800_000; // people go away and come back; limits end meanwhile
const PEOPLE_MAX = 6;
const ROUND_MS = 4_000; // about as long as a prompt takes
const START_MS = 5_000; // from the end of a host to the next one
const ROUND_APPENDS = 8; // per person

/** Plays a seeded story: people, faults, and a host that is killed now and then. */
export async function play(options: StoryOptions): Promise<Story> {
  const stage = new StoryStage(options);
  await using home = homeOf(options.store ?? "memory", options.seed);
  return await stage.play((world) => home.open(world));
}

class StoryStage {
  readonly #options: StoryOptions;
  readonly #appendFaults = new AppendFaults();
  readonly #kills = new Map<string, number>();
  readonly #watch = new AgentWatch((session) => this.#appendFaults.linked.has(session));
  readonly #owners = new Map<string, string>();

  constructor(options: StoryOptions) {
    this.#options = options;
  }

  async play(open: NonNullable<NonNullable<ConstructorParameters<typeof Rig>[0]>["open"]>): Promise<Story> {
    const { seed, probability, faults, prompts } = this.#options;
    const planted = this.#options.around?.bind(this.#options) ?? ((upstream: Upstream) => upstream);
    const wire = wireOf(seed);
    const onWire = (upstream: Upstream): Upstream =>
      wire === null ? upstream : asAcp(upstream, wire === "ids");
    const rig = new Rig({
      seed,
      two: true,
      agents: agentsOf(seed),
      more: BOUNDS,
      open: (world) => this.#appendFaults.store(open(world)),
      around: (upstream) => planted(onWire(this.#watch.around(upstream))),
    });
    rig.login = async () => true;
    let modelFaults = probability;
    const loops = new LoopHosts(rig, {
      seed,
      share: loopShare(seed),
      probability: () => modelFaults,
    });
    const people = Array.from({ length: this.#options.people }, (_, at) =>
      this.#person(rig, loops, { name: `p${at}`, source: null }),
    );
    for (const person of people) await this.#create(rig, person.name);
    rig.world.chances(...everything(probability, faults));
    for (let round = 0; people.some((person) => person.prompts < prompts); round++) {
      await this.#round(rig, people, round);
      people.push(
        ...people.flatMap((person) => this.#forkOf(rig, loops, person)).slice(0, PEOPLE_MAX - people.length),
      );
      if (draw(seed, round, "pause") < 0.2)
        await rig.world.timeline.pass(draw(seed, round, "long") * PAUSE_MS);
      if (signsOut(seed) && draw(seed, round, "sign-out") < 0.2) await this.#signOut(rig, people, round);
      for (const person of people) await person.check();
      if (loops.refusals.length > 0 || people.some((person) => person.violations.length > 0)) break;
    }
    rig.world.chances();
    modelFaults = 0;
    for (const person of people) {
      await person.farewell();
      await person.check();
      person.checkSessions();
    }
    const replayed = isReplayed(seed) ? people : [];
    const otherwise: string[] = [];
    for (const { name } of replayed)
      otherwise.push(...(await loops.replayFaults(name)).map((what) => `${name}: ${what}`));
    await this.#options.look?.(rig);
    const doubles = rig.world.outbox.doubles().map((identity) => `sent twice: ${identity}`);
    const refused = loops.refusals.map((why) => `a model refused a request for good: ${why}`);
    return {
      violations: [
        ...this.#watch.violations,
        ...refused,
        ...people.flatMap((person) => person.violations),
        ...otherwise,
        ...doubles,
      ],
      struck: rig.world.faults.struck,
      kills: this.#kills,
      outcomes: outcomesOf(rig.events),
      loops: loops.counts,
      turns: people.reduce((sum, person) => sum + person.sent, 0),
      forks: people.length - this.#options.people,
    };
  }

  /** Half of the conversations begin as most products do: with a greeting. */
  async #create(rig: Rig, name: string): Promise<void> {
    await rig.create(name);
    if (draw(this.#options.seed, name, "greeting") < 0.5)
      await (await rig.holdfast.conversation(name)).append(assistant("Welcome!"));
  }

  #person(
    rig: Rig,
    loops: LoopHosts,
    { name, source }: { readonly name: string; readonly source: Person | null },
  ): Person {
    const { seed } = this.#options;
    const witness: StoryWitness = {
      names: new Set([name, ...(source?.names ?? [])]),
      touches: (session) => this.#watch.touches(session),
      spoke: (session) => this.#watch.spoke(session),
      ran: (tool, input) => tool !== "send_email" || rig.world.outbox.count(identityOf(input)) > 0,
      resumes: (agent) => resumes(agent, seed),
      claim: (session) => {
        const owner = this.#owners.get(session) ?? name;
        this.#owners.set(session, owner);
        return owner === name;
      },
    };
    return new Person(rig, name, { seed, witness, source, loops });
  }

  /** Who goes on beside a person that has just been forked. */
  #forkOf(rig: Rig, loops: LoopHosts, person: Person): readonly Person[] {
    const name = person.nextFork();
    return name === null ? [] : [this.#person(rig, loops, { name, source: person })];
  }

  /** Everyone signs out of one account, while nobody is at work. */
  async #signOut(rig: Rig, people: readonly Person[], round: number): Promise<void> {
    const agents = agentsOf(this.#options.seed);
    const which = Math.floor(draw(this.#options.seed, round, "account") * agents.length);
    const { agent = "claude", account = null } = agents[which] ?? {};
    for (const person of people) await person.check();
    const { failed } = await rig.holdfast.signOut({ agent, account });
    const busy = new Set<string>(failed.map(({ conversation }) => conversation));
    for (const person of people) await person.signedOut(accountName(agent, account), busy.has(person.name));
  }

  /** Everyone makes a prompt; the host may not live to see the end of it. */
  async #round(rig: Rig, people: readonly Person[], round: number): Promise<void> {
    const { seed } = this.#options;
    const fate = this.#options.kills === false ? 1 : draw(seed, round, "fate");
    const orphans = draw(seed, round, "orphans") < 0.5;
    const dead = Promise.withResolvers<void>();
    const { life } = rig;
    const count = (moment: string): void => void this.#kills.set(moment, (this.#kills.get(moment) ?? 0) + 1);
    const kill = (moment: string): void => {
      count(moment);
      rig.restart({ orphans });
      if (orphans) for (const person of people) person.orphaned();
      dead.resolve();
    };
    if (fate < 0.18) {
      const end = fate < 0.075 ? "lost" : fate < 0.15 ? "landed" : "refused";
      const of = isInside(seed) && draw(seed, round, "act") < 0.5 ? "intents" : "all";
      const skip =
        of === "intents" ? 0 : Math.floor(draw(seed, round, "moment") * ROUND_APPENDS * people.length);
      const strike = (moment: string): void => {
        if (end !== "refused") return kill(`${moment}/${end}`);
        count(`${moment}/${end}`);
        for (const person of people) person.orphaned();
      };
      if (asks(seed) && draw(seed, round, "ask") < 0.5) rig.world.onAsk = () => strike("ask");
      else this.#appendFaults.arm({ skip, of, end, strike });
    }
    const acts = Promise.all(people.map((person) => person.act()));
    const over = new AbortController();
    if (fate >= 0.18 && fate < 0.25)
      void rig.world.timeline
        .sleep(draw(seed, round, "moment") * ROUND_MS, over.signal)
        .then(() => (over.signal.aborted ? undefined : kill("between/appends")));
    await Promise.race([acts, dead.promise]);
    over.abort();
    this.#appendFaults.disarm();
    rig.world.onAsk = () => undefined;
    // What the dead host had under way has landed, or never will. What it left behind may go on until the next one starts.
    const isSlow = rig.life > life && draw(seed, round, "slow start") < 0.5;
    await rig.world.timeline.pass(isSlow ? draw(seed, round, "start") * START_MS : 0);
  }
}

function identityOf(input: Json): string {
  const { to, about } = fieldsOf(input);
  return emailIdentity(wordsIn(to), wordsIn(about));
}

function outcomesOf(events: readonly HostEvent[]): ReadonlyMap<string, number> {
  const ended = events.filter((event) => event.type === "ended");
  return new Map(
    [...Map.groupBy(ended, (event) => `${event.outcome}/${event.class}`)].map(([name, all]) => [
      name,
      all.length,
    ]),
  );
}
