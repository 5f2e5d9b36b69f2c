import {
  type Capabilities,
  type NativeMessage,
  type PromptEvent,
  type RawEnd,
  type SessionSettings,
  type TranscriptMessage,
  type Upstream,
  UpstreamFailure,
  type UpstreamSession,
} from "#upstream/upstream";
import { type Message, type ToolCall, textOfBlocks } from "#log/message";
import { withDefaults } from "#log/with-defaults";
import { classifyEnd } from "#turn/rules/classify";
import { vendorOf } from "#vendors/known-vendors";
import { complain, type Complaint, COMPLAINTS } from "./sim-dialect.ts";
import { EventQueue, SimTurn } from "./simulated-turn.ts";
import { type Line, actsFor, commandsOf } from "./replies.ts";
import { type Memory, newMemory, type SimProcess } from "./sim-process.ts";
import { whileAlive } from "#testing/timeline";
import type { SimWorld } from "#testing/world";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import { readJson } from "#log/json/read-json";

export interface SimUpstreamOptions {
  /** Its name, which also decides how it words its failures: `claude`, `codex`, or anything. */
  readonly agent: string;
  readonly account?: string;
  readonly capabilities?: Partial<Capabilities>;
  /** Whether a resumed or forked session shows its history. It does, unless said otherwise. */
  readonly shows?: boolean;
  /** Whose process it is; hosts do not share theirs. */
  readonly home?: string;
  /** Whether its own record of a session can be read. Not unless said. */
  readonly records?: boolean;
  /** Whether a new session can be given a history. Not unless said. */
  readonly restores?: boolean;
  /** It lives in the host's own process and runs its tools there, when it is asked for its next event. */
  readonly inside?: boolean;
  /** It asks its host before each tool: one that dies meanwhile has not run it. Not unless said. */
  readonly asks?: boolean;
  /** After each time so many prompts a session puts a summary in the place of its history. Never unless given. */
  readonly compactsAfter?: number;
  /** What its usage is counted under. */
  readonly model?: string;
}

/** What was asked of the agent besides prompts, for tests to look at. */
export interface SimUpstream extends Upstream {
  readonly requests: readonly {
    readonly verb: "open" | "resume" | "fork" | "restore" | "history" | "restart" | "prompt" | "close";
    readonly session: string | null;
    readonly settings: SessionSettings | null;
  }[];
}

const CALL_MS = 5;
const RESET_MS = 3_600_000;
const CAPABILITIES: Capabilities = { resume: true, fork: "message", trustedResume: false, keepsPrompt: true };

interface AgentHandle {
  readonly world: SimWorld;
  /** The name of the process: sessions of one agent and account share one. */
  readonly place: string;
  readonly options: SimUpstreamOptions;
  readonly death: AbortSignal;
  readonly requests: SimUpstream["requests"][number][];
}

/** A simulated agent. It belongs to the world's present life: after `world.kill()` it never answers again. */
export function simUpstream(world: SimWorld, options: SimUpstreamOptions): SimUpstream {
  const account = options.account ?? null;
  const home = options.home === undefined ? "" : `${options.home}:`;
  const place = `${home}${account === null ? options.agent : `${options.agent}/${account}`}`;
  const handle: AgentHandle = { world, place, options, death: world.death, requests: [] };
  const call = <T>(work: () => Promise<T>): Promise<T> =>
    handle.death.aborted ? new Promise<T>(() => undefined) : whileAlive(work(), handle.death);
  return {
    agent: options.agent,
    account,
    capabilities: withDefaults(CAPABILITIES, options.capabilities ?? {}),
    toolsElsewhere: options.inside !== true,
    endings: vendorOf(options.agent).endings,
    requests: handle.requests,
    open: (settings) => call(() => open(handle, settings)),
    resume: (id, settings) => call(() => resume(handle, id, settings)),
    fork: (id, settings, keepTurns) => call(() => fork(handle, { id, settings, keepTurns })),
    ...(options.restores === true
      ? { restore: (messages, settings) => call(() => restore(handle, messages, settings)) }
      : {}),
    ...(options.records === true
      ? { history: (id, settings) => call(() => history(handle, id, settings)) }
      : {}),
    restart: (process) => call(() => restart(handle, process)),
  };
}

async function open(handle: AgentHandle, settings: SessionSettings): Promise<UpstreamSession> {
  handle.requests.push({ verb: "open", session: null, settings });
  processAt(handle);
  await arrive(handle, "open", null);
  const id = handle.world.newName(`${handle.options.agent}-session`);
  return openSession(handle, id, { lines: [], transcript: null });
}

async function resume(handle: AgentHandle, id: string, settings: SessionSettings): Promise<UpstreamSession> {
  const { world } = handle;
  handle.requests.push({ verb: "resume", session: id, settings });
  processAt(handle);
  await arrive(handle, "resume", id);
  const lines = processAt(handle).sessions.get(id)?.lines ?? world.transcript(id);
  if (lines === null) throw failure(handle, "unknown_session", id);
  return openSession(handle, id, { lines, transcript: shownBy(handle, lines) });
}

interface ForkInput {
  readonly id: string;
  readonly settings: SessionSettings;
  readonly keepTurns: number | undefined;
}

async function fork(handle: AgentHandle, forking: ForkInput): Promise<UpstreamSession> {
  const { world } = handle;
  handle.requests.push({ verb: "fork", session: forking.id, settings: forking.settings });
  await arrive(handle, "open", forking.id);
  const lines = processAt(handle).sessions.get(forking.id)?.lines ?? world.transcript(forking.id);
  if (lines === null) throw failure(handle, "unknown_session", forking.id);
  const copy = forking.keepTurns === undefined ? lines : firstTurns(lines, forking.keepTurns);
  const id = world.newName(`${handle.options.agent}-session`);
  world.saveTranscript(id, copy);
  if (world.corrupt.has(forking.id)) world.corrupt.add(id);
  return openSession(handle, id, { lines: copy, transcript: shownBy(handle, copy) });
}

async function restore(
  handle: AgentHandle,
  messages: readonly Message[],
  settings: SessionSettings,
): Promise<UpstreamSession> {
  const { world } = handle;
  handle.requests.push({ verb: "restore", session: null, settings });
  processAt(handle);
  await arrive(handle, "open", null);
  const id = world.newName(`${handle.options.agent}-session`);
  const lines = linesOf(messages);
  world.saveTranscript(id, lines);
  return openSession(handle, id, { lines, transcript: null });
}

async function history(
  handle: AgentHandle,
  id: string,
  settings: SessionSettings,
): Promise<readonly NativeMessage[] | null> {
  handle.requests.push({ verb: "history", session: id, settings });
  await handle.world.timeline.sleep(CALL_MS);
  const lines = handle.world.transcript(id);
  return lines === null ? null : nativeOf(id, lines);
}

async function restart(handle: AgentHandle, token: string | null): Promise<void> {
  handle.requests.push({ verb: "restart", session: null, settings: null });
  await handle.world.timeline.sleep(CALL_MS);
  handle.world.endGroup(handle.place, token);
}

function firstTurns(lines: readonly Line[], turns: number): readonly Line[] {
  let seen = 0;
  const end = lines.findIndex((line) => line.role === "user" && ++seen > turns);
  return end === -1 ? lines : lines.slice(0, end);
}

function shownBy({ options }: AgentHandle, lines: readonly Line[]): readonly TranscriptMessage[] | null {
  if (options.shows === false) return null;
  return lines.flatMap((line) => (line.role === "tool" ? [] : [{ role: line.role, text: line.text }]));
}

function processAt(handle: AgentHandle): SimProcess {
  return (
    handle.world.processOf(handle.place) ?? handle.world.startProcess(handle.place, handle.options.inside)
  );
}

function failure(
  handle: AgentHandle,
  complaint: Complaint,
  id: string | null,
  resetMs: number = RESET_MS,
): UpstreamFailure {
  const { world, options } = handle;
  const token = world.processOf(handle.place)?.token ?? null;
  const error = complain(options.agent, complaint, {
    session: id ?? "none",
    resetAtMs: world.nowMs() + resetMs,
  });
  return new UpstreamFailure(
    classifyEnd(vendorOf(options.agent).endings, { stopReason: null, error, exited: complaint === "crash" }),
    token,
  );
}

/** The call takes its time, and something may happen to it. */
async function arrive(handle: AgentHandle, phase: "open" | "resume", id: string | null): Promise<void> {
  const { world, options } = handle;
  await world.timeline.sleep(CALL_MS);
  const moment = `${handle.place}/${id ?? ""}/${handle.requests.length}/${world.nowMs()}`;
  const fault = world.faults.at({ phase, agent: options.agent, moment });
  if (fault === null) return;
  const complaint = COMPLAINTS[fault.kind];
  if (complaint === "expire" && id !== null) world.loseTranscript(id);
  if (complaint !== undefined) throw failure(handle, complaint, id, fault.resetMs);
  if (fault.kind === "hang") await new Promise(() => undefined);
  if (fault.kind === "crash") {
    const crashed = failure(handle, "crash", id);
    processAt(handle).die(fault.orphan ?? false);
    throw crashed;
  }
  if (id === null) return;
  processAt(handle).sessions.delete(id);
  if (fault.kind === "lose") world.loseTranscript(id);
  if (fault.kind === "truncate") world.truncateTranscript(id);
}

interface OpenSessionInput {
  readonly lines: readonly Line[];
  readonly transcript: readonly TranscriptMessage[] | null;
}

/** A session in the hands of the process that runs now. */
function openSession(handle: AgentHandle, id: string, begun: OpenSessionInput): UpstreamSession {
  const running = processAt(handle);
  const memory = running.sessions.get(id) ?? newMemory(begun.lines);
  running.sessions.set(id, memory);
  const worker = {
    world: handle.world,
    agent: handle.options.agent,
    asks: handle.options.asks === true,
    compactsAfter: handle.options.compactsAfter ?? null,
    place: handle.place,
    process: running,
    memory,
    id,
  };
  let turn: SimTurn | null = null;
  return {
    id,
    transcript: begun.transcript,
    ...(handle.options.model === undefined ? {} : { model: handle.options.model }),
    get process() {
      return handle.world.processOf(handle.place)?.token ?? `${running.token}-gone`;
    },
    async *prompt(request) {
      handle.requests.push({ verb: "prompt", session: worker.id, settings: request.settings });
      const queue = new EventQueue();
      turn = begin(handle, { worker, request, queue, memory });
      for await (const event of queue.read()) {
        if (handle.death.aborted) await new Promise(() => undefined);
        yield event;
      }
    },
    async cancel() {
      turn?.cancel();
    },
    async close() {
      handle.requests.push({ verb: "close", session: worker.id, settings: null });
      running.sessions.delete(worker.id);
    },
  };
}

interface BeginTurnInput {
  readonly worker: ConstructorParameters<typeof SimTurn>[0];
  readonly request: ConstructorParameters<typeof SimTurn>[1];
  readonly queue: EventQueue;
  readonly memory: Memory;
}

function begin(handle: AgentHandle, at: BeginTurnInput): SimTurn | null {
  const { worker, request, queue, memory } = at;
  const { world, options } = handle;
  const end = (complaint: Complaint): PromptEvent => {
    const error = complain(options.agent, complaint, { session: worker.id, resetAtMs: 0 });
    const exited = complaint === "crash";
    return {
      type: "end",
      end: { stopReason: null, error, exited, durationMs: 0, usage: null } satisfies RawEnd,
    };
  };
  if (!worker.process.alive)
    queue.push(end(world.processOf(handle.place) === null ? "crash" : "unknown_session"));
  else if (worker.process.sessions.get(worker.id) !== memory) queue.push(end("unknown_session"));
  else {
    worker.process.death.addEventListener("abort", () => queue.push(end("crash")), { once: true });
    const turn = new SimTurn(worker, request, {
      say: (event) => queue.push(event),
      sayAndWait: (event) => queue.pushAndWait(event),
    });
    void turn.run();
    return turn;
  }
  return null;
}

/** A history as the agent would have written it down itself. */
function linesOf(messages: readonly Message[]): readonly Line[] {
  const calls = new Map<string, ToolCall>();
  return messages.flatMap((message): readonly Line[] => {
    const text = textOfBlocks(message.content);
    if (message.role !== "toolResult") {
      for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, block);
      return text.trim() === "" ? [] : [{ role: message.role, text }];
    }
    const call = calls.get(message.toolCallId);
    if (call === undefined) return [];
    const result = message.isError === true ? "failed" : "done";
    const state = text === OUTCOME_UNKNOWN ? "outcome unknown" : result;
    return [{ role: "tool", text: `${call.name} ${JSON.stringify(call.input)}: ${state}` }];
  });
}

const TOOL_LINE = /^(\S+) (\{.*\}): (done|failed|not run|outcome unknown)$/s;

/** What the agent's own record of a session holds: a tool is a call when it begins and a result when it ends. */
function nativeOf(session: string, lines: readonly Line[]): readonly NativeMessage[] {
  let call: ToolCall | null = null;
  const messages: Pick<NativeMessage, "message" | "notRun">[] = [];
  for (const [at, { role, text }] of lines.entries()) {
    const [, name = "", input = "{}", state = ""] = (role === "tool" && TOOL_LINE.exec(text)) || [];
    if (role !== "tool") messages.push({ message: { role, content: [{ type: "text", text }] } });
    else if (call === null || state === "outcome unknown") {
      call = { type: "toolCall", id: `${session}-call-${at}`, name, input: readJson(input) };
      messages.push({ message: { role: "assistant", content: [call] } });
    }
    if (role !== "tool" || state === "outcome unknown" || call === null) continue;
    const about = { toolCallId: call.id, toolName: name, isError: state !== "done" };
    const message: Message = { role: "toolResult", ...about, content: [{ type: "text", text: state }] };
    messages.push({ message, ...(state === "not run" ? { notRun: true } : {}) });
    call = null;
  }
  return messages.map((native, at) => Object.assign(native, { id: `${session}/${at}`, time: null }));
}

/** The user continues a session in the agent's own program; Holdfast sees only the record of it. */
export function visit(world: SimWorld, session: string, prompt: string): void {
  const lines = [...(world.transcript(session) ?? [])];
  const count = lines.length;
  lines.push({ role: "user", text: prompt });
  for (const command of commandsOf(prompt)) {
    const act = actsFor(command, lines);
    if (act.do === "email") {
      world.outbox.add({ identity: act.identity, atMs: world.nowMs(), session });
      const mark = `send_email ${JSON.stringify(act.input)}`;
      lines.push({ role: "tool", text: `${mark}: outcome unknown` }, { role: "tool", text: `${mark}: done` });
    }
    const text = act.do === "email" ? `Sent the ${act.identity}. ` : act.pieces.join("");
    lines.push({ role: "assistant", text });
  }
  world.appendTranscript(session, lines.slice(count));
}
