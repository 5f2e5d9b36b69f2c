import type { EntryBody, Entry } from "#log/entry";
import type { ToolCall, ToolResultMessage } from "#log/message";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";
import { runEffects } from "#turn/effects/run-effects";
import { resultMessage } from "#turn/rules/turn-record";
import { subjectOf } from "#agent/tools/folder-path";
import {
  decide as decidePermission,
  type Decision,
  type Refusal,
  refusalText,
} from "#agent/tools/permissions";
import { checkInput } from "#agent/tools/tool-schema";
import type { CallToDecide, Permission } from "#agent/agent-options";
import { refusal, type AnswerPlace } from "./answer-entries.ts";
import { skillChange, skillsAfter } from "#agent/skills/skill-tools";
import { type LoopTurn, tell, write } from "./loop-turn.ts";
import type { PermissionAsked } from "#turn/host";

/** Calls of one answer that have no result yet. */
export interface CallsToRun {
  readonly calls: readonly ToolCall[];
  readonly place: AnswerPlace;
  /** The seq of the answer: permission requests and started calls follow it. */
  readonly seq: number;
  /** The answer was written here, just now: none of its calls was begun before. */
  readonly fresh?: true;
}

export interface CallsRun {
  /** In the order of the calls; a call whose outcome is unknown has none. */
  readonly results: readonly ToolResultMessage[];
  /** The requests that nobody has answered: the turn waits. */
  readonly waiting: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();
const CANCELLED = "Not executed: the turn was cancelled before this call started.";
const GONE = "Not executed: this tool is no longer available.";

/** Runs what may run, asks where a person decides, and gives every other call a result that says why it did not run. */
export async function runCalls(turn: LoopTurn, request: CallsToRun): Promise<CallsRun> {
  const { calls, place, seq } = request;
  const started = request.fresh === true ? NONE : await readStarted(turn, request);
  // A turn that is taken up has calls to run before it has read anything.
  if (turn.progress.state === undefined || turn.progress.skills === undefined) {
    const { state, skills } = await turn.work.conversation.settings();
    turn.progress.state ??= state;
    turn.progress.skills ??= skills;
  }
  const approvals = new Approvals(turn, seq);
  const results = new Map<string, ToolResultMessage>();
  const waiting: string[] = [];
  const running: Promise<void>[] = [];
  const refuse = async (call: ToolCall, text: string, by?: Refusal): Promise<void> => {
    const result = refusal(call, text, by);
    results.set(call.id, result);
    await write(turn, [{ type: "message", message: result }]);
    tellTool(turn, call, { state: "failed", output: text, details: result.details ?? null });
  };
  const slots = new Slots(turn.options.parallelCalls);
  const run = async (call: ToolCall, value: Json | undefined): Promise<void> => {
    const result = await slots.run(() => runOne(turn, place, { call, value }));
    if (result === "not_started") await refuse(call, CANCELLED);
    else if (result !== null) results.set(call.id, result);
  };
  try {
    for (const call of calls) {
      const decision = started.has(call.id) ? {} : await decide(turn, { call, place, approvals });
      if ("refused" in decision) await refuse(call, decision.refused, decision.by);
      else if ("waits" in decision) waiting.push(requestName(place, call.id));
      else running.push(run(call, decision.value));
    }
  } finally {
    // Whatever fails here, nothing that was begun is left behind unheard.
    await Promise.allSettled(running);
  }
  await Promise.all(running);
  return { results: calls.flatMap(({ id }) => results.get(id) ?? []), waiting };
}

/** So many at a time; the others wait in order. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

interface CallRequest {
  readonly call: ToolCall;
  readonly place: AnswerPlace;
  readonly approvals: Approvals;
}

type CallDecision =
  /** It runs, with what its schema made of the input. */
  { readonly value?: Json } | { readonly waits: true } | { readonly refused: string; readonly by?: Refusal };

async function decide(turn: LoopTurn, { call, place, approvals }: CallRequest): Promise<CallDecision> {
  const { work, options } = turn;
  if (work.cancelled.aborted) return { refused: CANCELLED };
  const tool = turn.tools.get(call.name);
  if (tool === undefined) return { refused: GONE };
  const checked = await checkInput(tool, call.input);
  if ("problem" in checked) return { refused: checked.problem };
  const { value } = checked;
  const decision = await decidedBy(options.permission, { tool, input: call.input, cwd: turn.cwd });
  if (decision === "deny") return refusedBy(tool.name, "rule");
  if (decision === "allow") return { value };
  const nobody = work.host.onPermission === undefined && options.whenAsked === "refuse";
  if (nobody && !(await approvals.wasAsked(place, call))) return refusedBy(tool.name, "nobody");
  const approval = await approvals.ask(place, call);
  if (work.cancelled.aborted) return { refused: CANCELLED };
  if (approval === "denied") return refusedBy(tool.name, "person");
  if (approval === "nobody") return refusedBy(tool.name, "nobody");
  return approval === "waiting" ? { waits: true } : { value };
}

function refusedBy(tool: string, by: Refusal): CallDecision {
  return { refused: refusalText(tool, by), by };
}

/** What rules, or a function of the host's own, say of a call. */
export async function decidedBy(permission: Permission, call: CallToDecide): Promise<Decision> {
  if (typeof permission === "function") return permission(call);
  const { tool, input, cwd } = call;
  const subject = await subjectOf(tool.name, input, cwd ?? process.cwd());
  return decidePermission(permission, { tool: tool.name, subject });
}

/** Returns the calls that started before. Their record decides their outcome; nobody is asked again. */
async function readStarted(turn: LoopTurn, { calls, place, seq }: CallsToRun): Promise<ReadonlySet<string>> {
  const { conversation } = turn.work;
  const ids = new Set(calls.map(({ id }) => id));
  const intents = await conversation.read({ after: seq, limit: 1_024, types: ["tool_intent"] });
  const own = intents.filter(({ turn: of, call }) => of === place.turn && ids.has(call));
  return new Set(own.map(({ call }) => call));
}

/** Returns null if the outcome is unknown. */
async function runOne(
  turn: LoopTurn,
  place: AnswerPlace,
  { call, value }: { readonly call: ToolCall; readonly value: Json | undefined },
): Promise<ToolResultMessage | "not_started" | null> {
  const tool = turn.tools.get(call.name);
  if (tool === undefined) return null;
  const { conversation, owner, cancelled } = turn.work;
  const { id, input } = call;
  const [outcome] = await runEffects(owner, place.turn, {
    calls: [{ id, input, tool, ...(value === undefined ? {} : { value }) }],
    signal: cancelled,
    step: place.step,
    clock: turn.options.clock,
    timeoutMs: turn.options.toolTimeoutMs,
    keepBlob: (bytes) => conversation.putBlob(bytes),
    alongside: (_, result) => [...stateBodies(turn, result), ...skillBodies(turn, result)],
    onStart: () => tellTool(turn, call, { state: "started" }),
  });
  if (outcome === undefined || outcome.state === "unknown") return null;
  if (outcome.state === "not_started") return "not_started";
  tellTool(turn, call, { state: outcome.state, output: outcome.output });
  return resultMessage(call, { ...outcome, isError: outcome.state === "failed" });
}

/** The whole state goes with the result that changed it. */
function stateBodies(turn: LoopTurn, result: ToolResultMessage): readonly EntryBody[] {
  const { progress, options } = turn;
  const before = progress.state ?? null;
  const state = options.state(before, result);
  if (isSameJson(before, state)) return [];
  progress.state = state;
  return [{ type: "state_change", state }];
}

/** The same of the active skills. */
function skillBodies({ progress, options }: LoopTurn, result: ToolResultMessage): readonly EntryBody[] {
  const before = progress.skills ?? [];
  const after = options.skills === null ? before : skillsAfter(before, result);
  progress.skills = after;
  return after === before ? [] : [skillChange(after)];
}

export function tellTool(
  { work }: LoopTurn,
  { id: call, name, input }: ToolCall,
  event: { readonly state: "started" | "done" | "failed"; readonly output?: string; readonly details?: Json },
): void {
  tell(work, { type: "update", event: { type: "tool", call, name, input, ...event } });
}

type Approval = "allowed" | "denied" | "nobody" | "waiting";

const OPTIONS = [
  { id: "allow", name: "Allow", kind: "allow_once" },
  { id: "deny", name: "Deny", kind: "reject_once" },
] as const;

/** The same for the same call in whichever process it is asked for. */
function requestName({ turn, step }: AnswerPlace, call: string): string {
  return `${turn}/${step}/${call}`;
}

/** Permission requests and answers since an entry. */
class Approvals {
  readonly #turn: LoopTurn;
  readonly #requests = new Set<string>();
  readonly #answers = new Map<string, "allowed" | "denied" | "cancelled">();
  #after: number;

  constructor(turn: LoopTurn, after: number) {
    this.#turn = turn;
    this.#after = after;
  }

  async #read(): Promise<void> {
    const { conversation } = this.#turn.work;
    const types = ["permission", "permission_answer"] as const;
    const page = await conversation.read({ after: this.#after, limit: 1_024, types });
    for (const entry of page) this.#keep(entry);
    this.#after = page.at(-1)?.seq ?? this.#after;
  }

  #keep(entry: Entry): void {
    if (entry.type === "permission" && entry.request !== undefined) this.#requests.add(entry.request);
    // The first answer counts; later ones find the request answered.
    if (entry.type === "permission_answer" && !this.#answers.has(entry.request))
      this.#answers.set(entry.request, entry.outcome);
  }

  /** Whether a user was asked before. The request stays open even if no user can be asked now. */
  async wasAsked(place: AnswerPlace, call: ToolCall): Promise<boolean> {
    await this.#read();
    return this.#requests.has(requestName(place, call.id));
  }

  /** Asks a person once; an answer may come from the host, or from any process. */
  async ask(place: AnswerPlace, call: ToolCall): Promise<Approval> {
    await this.#read();
    const request = requestName(place, call.id);
    const earlier = this.#answers.get(request);
    if (earlier !== undefined) return earlier === "allowed" ? "allowed" : "denied";
    const { work } = this.#turn;
    const question: PermissionAsked = { request, call: call.id, tool: call.name, input: call.input };
    if (!this.#requests.has(request))
      await work.owner.append({
        type: "permission",
        request,
        call: call.id,
        turn: place.turn,
        options: OPTIONS,
        data: { tool: call.name, input: call.input },
      });
    this.#requests.add(request);
    tell(work, { type: "asked", ...question });
    const answer = await this.#answer(question);
    if (answer === null) {
      // A question that a cancel cut off is not left for others to answer.
      if (work.cancelled.aborted) await work.owner.append(answerBody(request, "cancelled", "host"));
      return "waiting";
    }
    const { outcome, from } = answer;
    if (from !== "log") await work.owner.append(answerBody(request, outcome, from));
    this.#answers.set(request, outcome);
    tell(work, { type: "answered", request, outcome });
    if (from === "nobody") return "nobody";
    return outcome === "allowed" ? "allowed" : "denied";
  }

  async #answer(question: PermissionAsked): Promise<{
    readonly outcome: "allowed" | "denied" | "cancelled";
    readonly from: "host" | "nobody" | "log";
  } | null> {
    const { work } = this.#turn;
    if (work.host.onPermission === undefined) return null;
    const over = new AbortController();
    const signal = AbortSignal.any([work.cancelled, over.signal]);
    const host = work.host.onPermission(question, signal).then(
      (reply) =>
        reply === "later"
          ? null
          : ({
              outcome: reply === "allow" ? "allowed" : "denied",
              from: reply === "nobody" ? "nobody" : "host",
            } as const),
      () => null, // a host that fails has not answered
    );
    const stopped = new Promise<null>((resolve) =>
      work.cancelled.addEventListener("abort", () => resolve(null), { once: true }),
    );
    try {
      return await Promise.race([host, this.#answerInLog(question.request, signal), stopped]);
    } finally {
      over.abort();
    }
  }

  /** Resolves when another process has answered. */
  async #answerInLog(
    request: string,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: "allowed" | "denied" | "cancelled"; readonly from: "log" }> {
    const wait = { after: this.#after, signal };
    // In a store that cannot be watched the answer is found when the turn is taken up again.
    const outcome = await this.#turn.work.conversation.waitForAnswer(request, wait).catch(() => null);
    return outcome === null ? new Promise(() => undefined) : { outcome, from: "log" };
  }
}

function answerBody(
  request: string,
  outcome: "allowed" | "denied" | "cancelled",
  by: "host" | "nobody",
): EntryBody {
  return { type: "permission_answer", request, outcome, by };
}
