import type { PromptEvent, PromptRequest, RawEnd } from "#upstream/upstream";
import { textOfBlocks, type Usage } from "#log/message";
import { withPreamble } from "#upstream/rules/preamble";
import { complain, type Complaint, COMPLAINTS } from "./sim-dialect.ts";
import type { Fault, Phase } from "#testing/faults";
import { type Act, actsFor, commandsOf, type Line } from "./replies.ts";
import type { Memory, SimProcess } from "./sim-process.ts";
import type { SimWorld } from "#testing/world";

const THINK_MS = 300;
const PIECE_MS = 40;
const TOOL_MS = 2_000;
const ASK_MS = 500;
const RESET_MS = 3_600_000;

/** Who works: one session in one process of one agent. */
export interface Worker {
  readonly world: SimWorld;
  readonly agent: string;
  /** It asks its host before each tool. */
  readonly asks: boolean;
  readonly compactsAfter: number | null;
  /** Where its process runs. */
  readonly place: string;
  readonly process: SimProcess;
  readonly memory: Memory;
  /** The session's id, which it may change by itself. */
  id: string;
}

/** Thrown to end a turn from wherever it is. */
class Over {
  readonly end: Partial<RawEnd>;

  constructor(end: Partial<RawEnd>) {
    this.end = end;
  }
}

/** How the agent is heard. */
interface Voice {
  say(event: PromptEvent): void;
  /** Resolves when whoever hears it asks for what follows. */
  sayAndWait(event: PromptEvent): Promise<void>;
}

/** One prompt being worked on. It runs by itself, as a process would, whether or not anyone listens. */
export class SimTurn {
  readonly #worker: Worker;
  readonly #request: PromptRequest;
  readonly #voice: Voice;
  readonly #startMs: number;
  readonly #cancel = new AbortController();
  #deaf: boolean = false;
  #text: string = "";
  #unsaved: string = "";
  #usage: Usage | null = null;
  /** What it knew when it left its session for a new one. */
  readonly #before: Line[] = [];

  constructor(worker: Worker, request: PromptRequest, voice: Voice) {
    this.#worker = worker;
    this.#request = request;
    this.#voice = voice;
    this.#startMs = worker.world.timeline.steadyMs();
  }

  cancel(): void {
    if (!this.#deaf) this.#cancel.abort();
  }

  async run(): Promise<void> {
    const { process, memory, world } = this.#worker;
    memory.prompts++;
    const end = await this.#work().then(
      () => ({ stopReason: "end_turn" }),
      (thrown: unknown) => {
        if (thrown instanceof Over) return thrown.end;
        throw thrown;
      },
    );
    if (process.groupEnd.aborted) return;
    this.#saveText();
    const durationMs = world.timeline.steadyMs() - this.#startMs;
    this.#say({
      type: "end",
      end: { stopReason: null, error: null, exited: false, durationMs, usage: this.#usage, ...end },
    });
    this.#idle();
  }

  async #work(): Promise<void> {
    const { memory } = this.#worker;
    const raw = textOfBlocks(this.#request.content, "\n");
    const prompt = this.#request.proven ? raw : withPreamble(this.#request.prior, raw);
    this.#remember({ role: "user", text: prompt });
    await this.#arrive("start");
    await this.#pause(THINK_MS);
    if (this.#worker.world.corrupt.has(this.#worker.id)) throw this.#complaint("corrupt");
    for (const [at, command] of commandsOf(raw).entries()) {
      if (at > 0 && this.#unsaved !== "") this.#emit("\n");
      await this.#act(actsFor(command, [...this.#before, ...memory.lines]));
    }
    this.#saveText();
    memory.lastAnswer = this.#text;
    this.#usage = computedUsage(memory.lines, this.#text);
    this.#compact();
    await this.#arrive("end");
  }

  /** The summary has all that is asked for later, and the transcript keeps every line, as Claude's does. */
  #compact(): void {
    const { memory, compactsAfter } = this.#worker;
    if (compactsAfter === null || memory.prompts % compactsAfter > 0) return;
    const data = { sessionUpdate: "compaction_update", compactionId: "summary", status: "completed" };
    this.#say({ type: "other", data });
  }

  async #act(act: Act): Promise<void> {
    if (act.do === "email") {
      await this.#email(act);
      return;
    }
    const { pieces } = act;
    const middle = Math.floor((pieces.length - 1) / 2);
    for (const [at, piece] of pieces.entries()) {
      this.#worker.memory.leftover = pieces.slice(at);
      this.#emit(piece);
      if (at === middle) await this.#arrive("text");
      await this.#pause(PIECE_MS);
    }
    this.#worker.memory.leftover = [];
  }

  async #email(act: Extract<Act, { do: "email" }>): Promise<void> {
    const { world } = this.#worker;
    await this.#arrive("before_tool");
    this.#saveText();
    const call = world.newName("call");
    const event = { type: "tool", call, name: "send_email", input: act.input } as const;
    const mark = `send_email ${JSON.stringify(act.input)}`;
    if (this.#worker.process.inside) await this.#announce({ ...event, state: "started" });
    else {
      this.#remember({ role: "tool", text: `${mark}: outcome unknown` });
      if (!(await this.#mayRun())) return this.#remember({ role: "tool", text: `${mark}: not run` });
      this.#say({ ...event, state: "started" });
    }
    const send = (): void =>
      world.outbox.add({ identity: act.identity, atMs: world.nowMs(), session: this.#worker.id });
    if (this.#worker.process.inside) send();
    await this.#arrive("in_tool", this.#worker.process.inside ? undefined : send);
    await this.#pause(TOOL_MS);
    if (!this.#worker.process.inside) send();
    this.#remember({ role: "tool", text: `${mark}: done` });
    this.#say({ ...event, state: "done", output: `Sent: ${act.identity}` });
    await this.#arrive("after_tool");
    this.#emit(`Sent the ${act.identity}. `);
    await this.#pause(PIECE_MS);
  }

  /** Nobody answers what is left of a dead process: then the tool does not run, and the agent's own record says so. */
  async #mayRun(): Promise<boolean> {
    const { world, process, asks } = this.#worker;
    if (!asks) return true;
    world.onAsk();
    const over = [this.#cancel.signal, process.groupEnd, process.death];
    await world.timeline.sleep(ASK_MS, AbortSignal.any(over));
    this.#checkOver();
    return process.alive;
  }

  #emit(text: string): void {
    this.#text += text;
    this.#unsaved += text;
    this.#say({ type: "text", text });
  }

  /** In the session and in its transcript. Text comes there when it is whole: what a crash cuts off is in neither. */
  #remember(line: Line): void {
    this.#worker.memory.lines.push(line);
    this.#worker.world.appendTranscript(this.#worker.id, [line]);
  }

  #saveText(): void {
    if (this.#unsaved.trim() !== "") this.#remember({ role: "assistant", text: this.#unsaved });
    this.#unsaved = "";
  }

  #say(event: PromptEvent): void {
    this.#voice.say(event);
  }

  /** In the host's process a tool runs when the agent is asked on; it has no record of its own of having begun. */
  async #announce(event: PromptEvent): Promise<void> {
    const { world, process } = this.#worker;
    const over = AbortSignal.any([this.#cancel.signal, process.groupEnd]);
    const ended = world.timeline.sleep(Number.POSITIVE_INFINITY, over);
    await Promise.race([this.#voice.sayAndWait(event), ended]);
    this.#checkOver();
  }

  async #pause(ms: number): Promise<void> {
    const { world, process } = this.#worker;
    await world.timeline.sleep(ms, AbortSignal.any([this.#cancel.signal, process.groupEnd]));
    this.#checkOver();
  }

  #checkOver(): void {
    const { process } = this.#worker;
    if (process.groupEnd.aborted) throw new Over({ exited: true });
    if (this.#cancel.signal.aborted) throw new Over({ stopReason: "cancelled" });
  }

  /** Comes to a phase, where something may happen. `effect` is what a tool is about to do. */
  async #arrive(phase: Phase, effect?: () => void): Promise<void> {
    const { world, agent, memory, id, process } = this.#worker;
    // What a dead process left behind goes on with its work and cannot die again.
    if (!process.alive) return;
    const fault = world.faults.at({
      phase,
      agent,
      moment: `${id}/${memory.prompts}/${this.#text.length}/${world.nowMs()}`,
    });
    if (fault !== null) await this.#suffer(fault, effect);
  }

  async #suffer(fault: Fault, effect?: () => void): Promise<void> {
    const complaint = COMPLAINTS[fault.kind];
    if (complaint !== undefined) throw this.#complaint(complaint, fault);
    switch (fault.kind) {
      case "empty":
        this.#usage = computedUsage(this.#worker.memory.lines, "");
        throw new Over({ stopReason: "end_turn" });
      case "stale":
        return this.#replay(this.#worker.memory.lastAnswer === "" ? [] : [this.#worker.memory.lastAnswer]);
      case "late":
        return this.#replay(this.#worker.memory.leftover);
      case "hang":
        this.#deaf ||= fault.heedsCancel === false;
        return this.#pause(Number.POSITIVE_INFINITY);
      case "ignore_cancel":
        this.#deaf = true;
        return;
      case "roll":
        this.#roll(fault.renamed === true);
        return;
      case "crash":
        return this.#crash(fault, effect);
      default:
        throw new RangeError(`A ${fault.kind} does not strike within a turn`);
    }
  }

  #complaint(complaint: Complaint, fault?: Fault): Over {
    const { world, agent, id } = this.#worker;
    if (complaint === "expire") world.loseTranscript(id);
    if (complaint === "corrupt") world.corrupt.add(id);
    const resetAtMs = world.nowMs() + (fault?.resetMs ?? RESET_MS);
    return new Over({ error: complain(agent, complaint, { session: id, resetAtMs }) });
  }

  /** Nothing is computed: what is there already comes out, at once. */
  #replay(pieces: readonly string[]): void {
    if (pieces.length === 0) return;
    for (const text of pieces) this.#say({ type: "text", text });
    this.#worker.memory.leftover = [];
    this.#usage = REPLAYED;
    throw new Over({ stopReason: "end_turn" });
  }

  /** The turn goes on with what it had before it; the new session does not. */
  #roll(renamed: boolean): void {
    const { world, process, memory, id, agent } = this.#worker;
    this.#worker.id = world.newName(`${agent}-session`);
    if (!renamed) this.#before.push(...memory.lines.splice(0));
    process.sessions.delete(id);
    process.sessions.set(this.#worker.id, memory);
    world.saveTranscript(this.#worker.id, memory.lines);
    if (renamed && world.corrupt.has(id)) world.corrupt.add(this.#worker.id);
    world.loseTranscript(id);
    this.#say({ type: "session", id: this.#worker.id, ...(renamed ? { renamed } : {}) });
  }

  #crash(fault: Fault, effect?: () => void): void {
    if (effect !== undefined && fault.effect !== false && fault.orphan !== true) effect();
    this.#unsaved = "";
    this.#worker.process.die(fault.orphan ?? false);
    if (fault.orphan !== true) throw new Over({ exited: true });
  }

  /** Between two prompts. */
  #idle(): void {
    const { world, agent, place, memory, id } = this.#worker;
    const fault = world.faults.at({
      phase: "idle",
      agent,
      moment: `${id}/${memory.prompts}/${world.nowMs()}`,
    });
    if (fault?.kind === "restart") world.restartSilently(place);
    else if (fault?.kind === "lose") world.loseTranscript(id);
    else if (fault?.kind === "truncate") world.truncateTranscript(id);
  }
}

// As models with a prompt cache count: nearly everything was read before, and is counted apart from the few new tokens.
const UNCACHED_TOKENS = 3;
const SYSTEM_TOKENS = 21_000;
const CHARS_PER_TOKEN = 4;

/** What an agent counts for an answer it did not compute. */
const REPLAYED: Usage = { inputTokens: UNCACHED_TOKENS, outputTokens: 10, costMicros: 0 };

/** What it counts for an answer to all that its session holds. */
function computedUsage(context: readonly Line[], answer: string): Usage {
  const heldChars = context.reduce((sum, line) => sum + line.text.length, 0);
  return {
    inputTokens: UNCACHED_TOKENS,
    cacheReadTokens: SYSTEM_TOKENS + Math.ceil(heldChars / CHARS_PER_TOKEN),
    cacheWriteTokens: 0,
    outputTokens: Math.ceil(answer.length / CHARS_PER_TOKEN),
    costMicros: 0,
  };
}

/** The pipe between an agent and whoever reads it: in order, ended by `end`, closed for good after it. */
export class EventQueue {
  #waiting: PromptEvent[] = [];
  #wake: (() => void) | null = null;
  #closed: boolean = false;
  readonly #resolvers = new Map<PromptEvent, () => void>();

  push(event: PromptEvent): void {
    if (this.#closed) return;
    this.#closed = event.type === "end";
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** Resolves when the reader asks for what follows this event; never when nobody does. */
  async pushAndWait(event: PromptEvent): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolvers.set(event, resolve);
    this.push(event);
    await promise;
  }

  async *read(): AsyncGenerator<PromptEvent> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) {
        yield event;
        this.#resolvers.get(event)?.();
        if (event.type === "end") return;
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
  }
}
