import type { HostEvent } from "../../src/conversation/sending/host.ts";
import { type Chance, FAULT_KINDS, FAULT_PHASES } from "../../src/edges/sim/index.ts";
import { draw } from "../../src/edges/sim/faults.ts";
import { Rig } from "./rig.ts";

/** How many prompts back a fact must be known: three texts each at most, within the twenty that are told again. */
const REMEMBERED = 6;

/** Every fault in every phase it can strike in, each as likely as the others. */
export function everything(probability: number): readonly Chance[] {
  return FAULT_KINDS.flatMap((kind) =>
    FAULT_PHASES[kind].flatMap((phase): Chance[] => {
      const chance = { kind, phase, probability, resetMs: 600_000 };
      if (kind === "crash") return [chance, { ...chance, effect: false }, { ...chance, orphan: true }];
      return kind === "hang" ? [chance, { ...chance, heedsCancel: false }] : [chance];
    }),
  );
}

interface Told {
  readonly key: string;
  readonly value: string;
  readonly prompt: number;
}

/** One conversation of a story: a person who tells facts, asks them back, sends emails, cancels and steers. */
class Person {
  readonly violations: string[] = [];
  readonly #rig: Rig;
  readonly #name: string;
  readonly #seed: number;
  #told: Told[] = [];
  #prompts: number = 0;
  #emails: number = 0;
  #mayAsk: boolean = false;

  constructor(rig: Rig, name: string, seed: number) {
    this.#rig = rig;
    this.#name = name;
    this.#seed = seed;
  }

  get name(): string {
    return this.#name;
  }

  get prompts(): number {
    return this.#prompts;
  }

  #chance(what: string, below: number): boolean {
    return draw(this.#seed, this.#name, this.#prompts, what) < below;
  }

  /** A child of a killed host may have done unseen what was asked last; a person who asks for it again gets it again. */
  orphaned(): void {
    this.#mayAsk = false;
  }

  /** One prompt. Resolves when its turn has ended, or never when the host dies. */
  async act(): Promise<void> {
    this.#prompts++;
    if (this.#chance("steer", 0.1)) await this.#steer();
    const asked = this.#prompt();
    if (this.#chance("cancel", 0.1)) void this.#cancelSoon();
    const agent = this.#chance("agent", 0.2) ? "codex" : "claude";
    const onLimit = this.#chance("switch", 0.3) ? "switch" : "park";
    const result = await this.#rig.send(asked.prompt, {
      to: this.#name,
      agent,
      onLimit,
      force: this.#chance("force", 0.2),
    });
    if (result.outcome === "completed" && result.class !== "empty") asked.check(result.text);
  }

  #prompt(): { readonly prompt: string; check(answer: string): void } {
    const fine = (): void => undefined;
    if (this.#chance("recall", 0.4)) return this.#recall();
    if (this.#chance("email", 0.35)) {
      const again = this.#mayAsk && this.#chance("again", 0.4);
      if (!again) this.#emails++;
      this.#mayAsk = true;
      return { prompt: `email bob about ${this.#name}-${this.#emails}`, check: fine };
    }
    if (this.#chance("work", 0.3)) return { prompt: "work 8", check: fine };
    return { prompt: this.#tell(), check: fine };
  }

  #tell(): string {
    const at = this.#told.length + 1;
    const told = { key: `${this.#name}k${at}`, value: `${this.#name}v${at}`, prompt: this.#prompts };
    this.#told.push(told);
    return `remember ${told.key}=${told.value}`;
  }

  #recall(): { readonly prompt: string; check(answer: string): void } {
    const known = this.#told.filter((told) => told.prompt >= this.#prompts - REMEMBERED);
    const wanted = known[Math.floor(draw(this.#seed, this.#name, this.#prompts, "which") * known.length)];
    if (wanted === undefined) return { prompt: this.#tell(), check: () => undefined };
    const at = this.#prompts;
    return {
      prompt: `recall ${wanted.key}`,
      check: (answer) => {
        // Whoever was told less because it was too much may know less.
        if (
          this.#rig.events.some(
            (event) =>
              event.type === "lost" && event.class === "too_long" && event.conversation === this.#name,
          )
        )
          return;
        if (!answer.split("\n").includes(wanted.value))
          this.violations.push(
            `${this.#name} prompt ${at}: ${wanted.key} told at ${wanted.prompt} was answered "${answer}"`,
          );
      },
    };
  }

  async #steer(): Promise<void> {
    const conversation = await this.#rig.hold.conversation(this.#name);
    await conversation.steer(`s${this.#prompts}`, [{ type: "text", text: this.#tell() }]);
  }

  async #cancelSoon(): Promise<void> {
    await this.#rig.world.timeline.sleep(draw(this.#seed, this.#name, this.#prompts, "when") * 1_500);
    this.#rig.runtime.cancel(this.#name);
  }
}

export interface Story {
  readonly violations: readonly string[];
  readonly struck: ReadonlyMap<string, number>;
  readonly outcomes: ReadonlyMap<string, number>;
}

/** Plays a seeded story: people, faults, and a host that is killed now and then. */
export async function play(options: {
  readonly seed: number;
  readonly people: number;
  readonly prompts: number;
  readonly probability: number;
  look?(rig: Rig): Promise<void>;
}): Promise<Story> {
  const { seed } = options;
  const rig = new Rig({
    seed,
    agents: [{ agent: "claude" }, { agent: "codex", shows: seed % 2 === 0 }],
    more: { silenceMs: 30_000, toolSilenceMs: 60_000, cancelMs: 2_000, resumeMs: 10_000 },
  });
  rig.login = async () => true;
  rig.world.chances(...everything(options.probability));
  const people = Array.from({ length: options.people }, (_, at) => new Person(rig, `p${at}`, seed));
  for (const person of people) await rig.create(person.name);
  for (let kills = 0; people.some((person) => person.prompts < options.prompts);) {
    const round = Promise.all(people.map((person) => person.act()));
    const death = draw(seed, kills++, "death") < 0.15;
    if (!death) {
      await round;
      continue;
    }
    const killed = rig.world.timeline.sleep(draw(seed, kills, "moment") * 4_000);
    await Promise.race([round, killed]);
    const orphans = draw(seed, kills, "orphans") < 0.5;
    rig.restart({ orphans });
    if (orphans) for (const person of people) person.orphaned();
  }
  rig.world.chances();
  const violations = people.flatMap((person) => person.violations);
  for (const person of people) {
    await rig.send("hello", { to: person.name, force: true });
    violations.push(...(await brokenRules(rig, person)));
  }
  violations.push(...rig.world.outbox.doubles().map((identity) => `sent twice: ${identity}`));
  await options.look?.(rig);
  return { violations, struck: rig.world.faults.struck, outcomes: outcomesOf(rig.events) };
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

/** What must hold of every log, whatever happened. */
async function brokenRules(rig: Rig, person: Person): Promise<readonly string[]> {
  const broken: string[] = [];
  const log = await rig.log(person.name);
  const prompts = log.filter((entry) => entry.type === "turn_start");
  if (prompts.length !== person.prompts + 1)
    broken.push(`${person.name}: ${person.prompts + 1} prompts, ${prompts.length} turns`);
  const linked = new Set<string>();
  const open = new Set<string>();
  const attempts = new Map<string, number>();
  for (const entry of log) {
    if (entry.type === "upstream_link") linked.add(entry.upstream);
    if (entry.type === "turn_start") open.add(entry.turn);
    if (entry.type === "turn_end" && !open.delete(entry.turn))
      broken.push(`${person.name}: turn ${entry.turn} ended twice`);
    if (entry.type !== "attempt") continue;
    if (!linked.has(entry.upstream))
      broken.push(`${person.name}: ${entry.upstream} was used before it was linked`);
    attempts.set(entry.turn, (attempts.get(entry.turn) ?? 0) + 1);
  }
  if (open.size > 0) broken.push(`${person.name}: ${open.size} turns are open`);
  const most = Math.max(...attempts.values());
  if (most > 9) broken.push(`${person.name}: a prompt was sent ${most} times`);
  const words = log.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user" ? [JSON.stringify(entry.message.content)] : [],
  );
  const tells = words.filter((text) => text.includes("remember "));
  if (new Set(tells).size !== tells.length) broken.push(`${person.name}: something was told twice`);
  if (JSON.stringify(log).includes("restored from its log"))
    broken.push(`${person.name}: a preamble is in the log`);
  const strangers = words
    .concat(log.map((entry) => JSON.stringify(entry)))
    .filter((text) => [...text.matchAll(/"(p\d+)k\d+=/g)].some((match) => match[1] !== person.name));
  if (strangers.length > 0) broken.push(`${person.name}: hears another conversation`);
  return broken;
}
