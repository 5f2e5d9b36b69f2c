import { forkAside, goBackTo } from "#upstream/sessions/fork-session";
import type { Conversation } from "#conversation/conversation";
import type { From } from "#upstream/options";
import { draw } from "#testing/faults";
import { judgeConversation } from "#testing/index";
import { isLogError } from "#log/errors";
import type { Rig } from "../upstream/rig.ts";
import { type Carried, heardFaults, wholeText } from "./heard.ts";
import { Meanwhile } from "./meanwhile.ts";
import type { LoopHosts } from "./loop-hosts.ts";
import { type AcceptedPrompt, StoryRules, type StoryWitness } from "./story-rules.ts";
import { type Fact, ToldFacts } from "./told-facts.ts";

const FORK_MS = 10_000;
const FAREWELLS_MAX = 3;

interface Asked {
  readonly prompt: string;
  readonly recalls: Fact | null;
  /** It was made before, and nobody heard how it ended: it is sent once more, if that is allowed. */
  readonly again?: true;
}

/** One conversation: a person who tells facts, asks them back, sends emails, steers, cancels, goes back, starts anew. */
export class Person {
  readonly name: string;
  readonly violations: string[] = [];
  readonly #rig: Rig;
  readonly #loops: LoopHosts;
  readonly #seed: number;
  readonly #rules: StoryRules;
  readonly #facts: ToldFacts;
  readonly #witness: StoryWitness;
  /** What the host said it had accepted, in order. */
  readonly #accepted: AcceptedPrompt[] = [];
  /** Facts the store acknowledged. */
  readonly #acknowledged: string[] = [];
  #prompts: number = 0;
  /** Prompts that were made before this one was forked. */
  #before: number = 0;
  #fork: string | null = null;
  #forks: number = 0;
  #emails: number = 0;
  #mayAsk: boolean = false;
  /** Children of an agent may be at what was asked last; a loop that takes the turn over knows nothing of them. */
  #orphans: boolean = false;
  #result: Carried | null = null;
  /** What was sent last and has not come back. */
  #unheard: string | null = null;
  /** Sessions of its source that a fork has in its chain. */
  readonly #inherited: ReadonlySet<string>;
  /** The same for the fork that was made last. */
  #forkSessions: ReadonlySet<string> = new Set();
  /** Where the next prompt goes on from, when that is not where the conversation stands. */
  #from: From | null = null;

  constructor(
    rig: Rig,
    name: string,
    given: {
      readonly seed: number;
      readonly witness: StoryWitness;
      readonly source: Person | null;
      readonly loops: LoopHosts;
    },
  ) {
    this.#rig = rig;
    this.name = name;
    const { source } = given;
    this.#facts = new ToldFacts(name, source === null ? null : source.#facts);
    this.#prompts = this.#before = source?.prompts ?? 0;
    this.#inherited = source === null ? new Set() : source.#forkSessions;
    this.#seed = given.seed;
    this.#loops = given.loops;
    this.#witness = given.witness;
    this.#rules = new StoryRules(given.witness);
  }

  get prompts(): number {
    return this.#prompts;
  }

  /** Prompts of its own. */
  get sent(): number {
    return this.#prompts - this.#before;
  }

  /** Whose facts it may hold. */
  get names(): ReadonlySet<string> {
    return this.#witness.names;
  }

  /** The fork that was made since the last look. */
  nextFork(): string | null {
    const fork = this.#fork;
    this.#fork = null;
    return fork;
  }

  #chance(what: string, below: number): boolean {
    return draw(this.#seed, this.name, this.#prompts, what) < below;
  }

  #blame(what: string): void {
    this.violations.push(`${this.name} prompt ${this.#prompts}: ${what}`);
  }

  /** A child of a killed host may have done unseen what was asked last; a person who asks for it again gets it again. */
  orphaned(): void {
    this.#mayAsk = false;
    this.#orphans = true;
  }

  #meanwhile(via: "main" | "other"): Meanwhile {
    const at = this.#prompts;
    return new Meanwhile(this.#rig, this.#loops, {
      name: this.name,
      via,
      draw: (what) => draw(this.#seed, this.name, at, what),
      isOver: () => at !== this.#prompts,
      blame: (what) => this.#blame(what),
    });
  }

  /** One prompt. Resolves when its turn has ended, or never when the host dies. */
  async act(): Promise<void> {
    this.#prompts++;
    this.#result = null;
    this.#from = null;
    const { death } = this.#rig.world;
    const via = this.#chance("host", 0.3) ? "other" : "main";
    if (this.#chance("before", 0.2)) await this.#prepare(via);
    if (death.aborted) return; // what follows would be done by the next life
    if (this.#chance("visit", 0.08)) this.#meanwhile(via).visit(this.#rules.sessions, this.#facts);
    const loop = this.#from === null && this.#chance("loop", this.#loops.share);
    if (this.#chance("settings", 0.15)) await this.#meanwhile(via).changeSettings(loop);
    if (death.aborted) return;
    const asked = this.#retry(loop) ?? this.#ask();
    if (this.#chance("cancel", 0.1)) void this.#meanwhile(via).cancel();
    if (loop) {
      if (asked.recalls === null && this.#chance("words", 0.3))
        void this.#meanwhile(via).steer(this.#facts.tell(), this.#acknowledged);
      return this.#send(asked, () => this.#carry(asked, via));
    }
    await this.#sendToAgent(asked, {
      via,
      ...(this.#chance("agent", 0.2) ? { agent: "codex" } : { agent: "claude" }),
      ...(this.#chance("account", 0.1) ? { account: "team", agent: "claude" } : {}),
      whenLimited: this.#chance("switch", 0.3) ? "switch" : "park",
      force: this.#chance("force", 0.2),
      ...(this.#from === null ? {} : { from: this.#from }),
    });
  }

  /** The last prompts, when nothing goes wrong any more: a session that was damaged before may fail some. */
  async farewell(): Promise<void> {
    const asked: Asked = { prompt: "hello", recalls: null };
    for (let nth = 0; nth < FAREWELLS_MAX; nth++) {
      this.#prompts++;
      if (this.#chance("loop", this.#loops.share)) await this.#send(asked, () => this.#carry(asked, "main"));
      else await this.#sendToAgent(asked, { force: true });
      if (this.#result?.class !== "failed") break;
    }
    if (this.#result?.outcome !== "completed") this.#blame(`the last prompt ended ${this.#result?.class}`);
  }

  #carry({ prompt, again }: Asked, via: "main" | "other"): Promise<Carried | null> {
    return this.#loops.carry(this.name, { prompt, again: again === true, via, moment: this.#prompts });
  }

  #sendToAgent(asked: Asked, how: Parameters<Rig["send"]>[1]): Promise<void> {
    const to = { ...how, to: this.name };
    return this.#send(asked, () => (asked.again ? this.#rig.retry(to) : this.#rig.send(asked.prompt, to)));
  }

  async #send(asked: Asked, send: () => Promise<Carried | null>): Promise<void> {
    const from = this.#rig.events.length;
    this.#unheard = asked.prompt;
    try {
      this.#result = await send();
      if (this.#result !== null) [this.#unheard, this.#orphans] = [null, false];
    } catch (error) {
      if (isLogError(error, "disk_full")) return;
      this.#unheard = null;
      if (asked.again && isLogError(error, "invalid_request")) return; // something came of it
      this.#blame(`the send failed: ${error instanceof Error ? (error.stack ?? "") : String(error)}`);
      return;
    }
    const events = this.#rig.events.slice(from).filter(({ conversation }) => conversation === this.name);
    for (const event of events)
      // What is retried is the last prompt that was accepted, which need not be the one that was lost.
      if (event.type === "accepted" && asked.again !== true && this.#accepted.at(-1)?.id !== event.prompt)
        this.#accepted.push({ id: event.prompt, text: asked.prompt });
    if (events.some((event) => event.type === "lost" && event.class === "too_long")) this.#facts.tellsLess();
    if (this.#result === null) return;
    for (const what of heardFaults(events, this.#result, this.#witness)) this.#blame(what);
    if (this.#result.outcome !== "completed") return;
    for (const [said, email = ""] of this.#result.text.matchAll(/^Already sent: (email .+)$/gm))
      if (this.#rig.world.outbox.count(email) === 0) this.#blame(`was told "${said}", which never was`);
    if (asked.recalls !== null && this.#result.class !== "empty")
      // Words that came late have a loop say more behind its answer.
      await this.#checkRecall(asked.recalls, { ...this.#result, text: wholeText(events, this.#result) });
  }

  /** Something before the prompt: words for later, a new chat, another try, a secret. */
  async #prepare(via: "main" | "other"): Promise<void> {
    const conversation = await this.#rig.holdfast.conversation(this.name);
    try {
      if (this.#chance("steer", 0.5)) {
        const fact = this.#facts.tell();
        const text = `remember ${fact.key}=${fact.value}`;
        await conversation.steer(`s${this.#prompts}`, [{ type: "text", text }]);
        this.#acknowledged.push(`${fact.key}=${fact.value}`);
      } else if (this.#chance("anew", 0.2)) {
        this.#mayAsk = false;
        await conversation.newChat();
      } else if (this.#chance("back", 0.5)) {
        await this.#goBack(conversation);
      } else if (this.#chance("fork", 0.5)) await this.#forkAside(conversation, via);
      else {
        // An email that stands in the same message is hidden with it.
        [this.#mayAsk, this.#unheard] = [false, null];
        await this.#facts.hideOne(conversation);
      }
    } catch (error) {
      // A dead host's lease has not lapsed yet, or the store is full.
      if (!isLogError(error, "busy") && !isLogError(error, "disk_full")) throw error;
    }
  }

  /** To one of the last prompts, or to go on in a fork: at once, or with the prompt, in the session that is forked. */
  async #goBack(conversation: Conversation): Promise<void> {
    const branch = await conversation.branch();
    const mine = branch.filter((node) => node.type === "message" && node.message.role === "user").slice(-3);
    const entry = mine[Math.floor(draw(this.#seed, this.name, this.#prompts, "where") * mine.length)];
    this.#mayAsk = false;
    const [upstream] = this.#rig.upstreams;
    if (entry === undefined || upstream === undefined) return;
    const { clock } = this.#rig.world;
    if (this.#chance("at once", 0.4))
      await goBackTo(conversation, upstream, entry.id, { clock, forkMs: FORK_MS });
    else this.#from = this.#chance("in place", 0.3) ? { fork: true } : { edit: entry.id };
  }

  async #forkAside(conversation: Conversation, via: "main" | "other"): Promise<void> {
    const [upstream] = this.#rig.upstreams;
    if (upstream === undefined) return;
    // Names of facts are p and a number: a fork's are its source's with three more digits.
    const id = `${this.name}${String(++this.#forks).padStart(3, "0")}`;
    const { clock } = this.#rig.world;
    if (this.#chance("held", 0.6)) await this.#rig.runtimeOf(via).fork(this.name, { id, forkMs: FORK_MS });
    else await forkAside(conversation, upstream, { id, clock, forkMs: FORK_MS });
    this.#fork = id;
    this.#forkSessions = await this.#sessionsBefore(id);
  }

  /** The sessions that had begun where a fork was taken. */
  async #sessionsBefore(fork: string): Promise<ReadonlySet<string>> {
    const { holdfast } = this.#rig;
    const source = await holdfast.conversation(this.name);
    const { origin } = await (await holdfast.conversation(fork)).head();
    // A fork of what its source had inherited has none of the source's own.
    const seq = origin?.conversation === source.id ? (await source.entry(origin.entry)).seq : 0;
    const begun = (await source.facts(["upstream_link"])).filter((link) => link.seq <= seq);
    return new Set([
      ...this.#inherited,
      ...begun.flatMap((link) => (link.type === "upstream_link" ? [link.upstream] : [])),
    ]);
  }

  /** What must hold of a conversation once an account was signed out of. `busy`: its context could not be emptied. */
  async signedOut(account: string, busy: boolean): Promise<void> {
    // Nobody knows any more what its sessions did last.
    [this.#mayAsk, this.#unheard] = [false, null];
    if (busy) return;
    const { messages } = await (await this.#rig.holdfast.conversation(this.name)).context();
    const told = JSON.stringify(messages);
    for (const fact of this.#rules.saidTo(account))
      if (told.includes(fact)) this.#blame(`${fact} was said to ${account}, which was signed out of`);
  }

  /** Whoever did not hear the end of a prompt may try it once more, unless something else was said meanwhile. */
  #retry(loop: boolean): Asked | null {
    const prompt = this.#unheard;
    if (prompt === null || (loop && this.#orphans) || !this.#chance("retry", 0.5)) return null;
    return { prompt, recalls: null, again: true };
  }

  #ask(): Asked {
    if (this.#chance("recall", 0.45)) {
      const known = this.#facts.all.slice(-10);
      const wanted = known[Math.floor(draw(this.#seed, this.name, this.#prompts, "which") * known.length)];
      if (wanted !== undefined) return { prompt: `recall ${wanted.key}`, recalls: wanted };
    }
    if (this.#chance("email", 0.35)) {
      const again = this.#mayAsk && this.#chance("again", 0.4);
      if (!again) this.#emails++;
      this.#mayAsk = true;
      return { prompt: `email bob about ${this.name}-${this.#emails}`, recalls: null };
    }
    if (this.#chance("work", 0.2)) return { prompt: "work 8", recalls: null };
    const fact = this.#facts.tell();
    return { prompt: `remember ${fact.key}=${fact.value}`, recalls: null };
  }

  async #checkRecall(fact: Fact, result: Carried): Promise<void> {
    const conversation = await this.#rig.holdfast.conversation(this.name);
    for (const what of await this.#facts.recallFaults(conversation, fact, result)) this.#blame(what);
  }

  /** Everything that must hold after every step, of the log and of what would be sent next. */
  async check(): Promise<void> {
    const conversation = await this.#rig.holdfast.conversation(this.name);
    for (const what of await judgeConversation(conversation, this.#rules)) this.#blame(what);
    const { sent } = this;
    for (const what of this.#rules.promptFaults(this.#accepted, sent, this.#result)) this.#blame(what);
    for (const { id, source } of await conversation.chain())
      if (source !== null && !this.#inherited.has(id)) this.#blame(`${id} began after the fork was taken`);
    const waiting = JSON.stringify(await conversation.queue());
    for (const fact of this.#acknowledged.splice(0))
      if (!this.#rules.told(fact) && !waiting.includes(fact)) this.#blame(`${fact} was lost`);
  }

  /** Whose facts the agents of this conversation hold. */
  checkSessions(): void {
    for (const session of this.#rules.sessions) {
      const words = (this.#rig.world.transcript(session) ?? []).map((line) => line.text).join("\n");
      for (const name of this.#rules.strangersIn(words)) this.#blame(`${session} was told about ${name}`);
    }
  }
}
