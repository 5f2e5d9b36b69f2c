import type { TurnResult } from "#turn/result";
import type { EntryBody } from "#log/entry";
import { type EntryId, parseEntryId } from "#log/ids";
import { type Ending, nextStep, type NextStep } from "./rules/ending.ts";
import type { Parked } from "./rules/parking.ts";
import { type Spent, spentIn } from "#turn/rules/spent";
import {
  toolStarted,
  turnMessages,
  turnText,
  type UpstreamEvent,
  usedBy,
  withoutErrorText,
} from "#turn/rules/turn-record";
import { attempt, type Attempted, heldAtEnd, type Progress } from "./attempt.ts";
import { bounded } from "./bounded.ts";
import type { Live } from "./choose.ts";
import { parkedBy } from "./parked.ts";
import { dealWithPoison } from "./prior/limits.ts";
import { emit, type TurnGround } from "./turn-inputs.ts";
import type { RawEnd, Upstream } from "./upstream.ts";

export interface SendResult extends TurnResult {
  /** What the agent that carried it last said at its end; null when it said nothing. */
  readonly end: RawEnd | null;
}

/** How a turn ended, and what is left of the session that carried it. */
export interface TurnEnd {
  readonly result: SendResult;
  readonly upstream: Upstream;
  readonly live: Live | null;
}

interface Juncture {
  readonly attempted: Attempted;
  readonly step: NextStep;
}

const LOGIN_REFUSALS_MAX = 3; // the first asks for a login, the second replaces a process that kept the old one

/** Carries one accepted prompt to its end, through as many upstreams as the rules allow. */
export async function runTurn(
  ground: TurnGround,
  upstreams: readonly [Upstream, ...Upstream[]],
): Promise<TurnEnd> {
  const [first, ...others] = upstreams;
  const unused = {
    again: null,
    fresh: ground.fresh,
    poison: null,
    spent: [],
    recovered: false,
    restarted: false,
    backoffs: 0,
    refusals: 0,
  };
  const progress: Progress = {
    ...unused,
    upstream: first,
    live: ground.liveOf(first),
    switchTo: others,
    parked: [],
  };
  try {
    return await runAttempts(ground, progress);
  } catch (error) {
    // A session the runtime does not know of would stay open for good.
    if (progress.live?.session !== ground.liveOf(progress.upstream)?.session) letGo(progress);
    throw error;
  }
}

async function runAttempts(ground: TurnGround, progress: Progress): Promise<TurnEnd> {
  for (;;) {
    const attempted = await attempt(ground, progress);
    await attempted.recorder.settled();
    const { ending } = attempted;
    progress.poison =
      ending.class === "poisoned" ? await dealWithPoison(ground, attempted.id, ending.message) : null;
    const facts = {
      promptPoisoned: progress.poison === ground.prompt,
      toolStarted: toolStarted(attempted.recorder.events),
      recovered: progress.recovered,
      backoffs: progress.backoffs,
      cancelConfirmed: attempted.confirmed,
    };
    const step = nextStep(attempted.ending.class, facts);
    if (step.do === "park") progress.parked.push(...parkedBy(progress.upstream, attempted.ending.resetAtMs));
    // Whatever follows, the old process group is ended before another begins.
    const ended =
      attempted.ending.class !== "crashed" || (await endProcess(ground, progress, attempted.process));
    if (!ended || !(await goOn(ground, progress, { attempted, step })))
      return finish(ground, progress, { attempted, step });
    await keepUsage(ground, progress, attempted);
  }
}

/** What an attempt used that is given up has no message to stand on; whoever ends the turn finds it in the updates. */
async function keepUsage(ground: TurnGround, progress: Progress, attempted: Attempted): Promise<void> {
  const usage = usedBy(attempted.recorder.events, attempted.end?.usage ?? null);
  if (usage === null) return;
  progress.spent.push({ usage, model: modelOf(attempted, ground) });
  const said: UpstreamEvent = { type: "usage", usage };
  await ground.owner.append({ type: "update", turn: ground.turn, data: { events: [said] } as never });
}

/** Ends the process group; false when it cannot be told that it ended. */
async function endProcess(ground: TurnGround, progress: Progress, process: string | null): Promise<boolean> {
  progress.live = null;
  try {
    await bounded({ ...ground, cancelled: NEVER }, progress.upstream.restart(process));
    progress.restarted = true;
    return true;
  } catch {
    return false;
  }
}

const NEVER = new AbortController().signal;

/** Prepares another attempt where the step asks for one; false when the turn is over. */
async function goOn(ground: TurnGround, progress: Progress, at: Juncture): Promise<boolean> {
  const { step, attempted } = at;
  const { ending } = attempted;
  if (ground.cancelled.aborted) return false;
  progress.again = null;
  switch (step.do) {
    case "finish":
      return false;
    case "back_off":
      emit(ground, attempted.id, { type: "backing_off", delayMs: step.delayMs, message: ending.message });
      progress.backoffs++;
      progress.again = attempted.choice;
      await ground.clock.sleep(step.delayMs, ground.cancelled);
      return !ground.cancelled.aborted;
    case "ask_auth":
      return askLogin(ground, progress, attempted);
    case "roll":
    case "restart":
      emit(ground, attempted.id, { type: "lost", class: ending.class, message: ending.message });
      progress.recovered = true;
      progress.fresh = step.do === "roll" ? ending.class : null;
      if (step.do === "roll") await leave(ground, progress, attempted);
      return true;
    case "park":
      return switchAgent(ground, progress, attempted);
  }
}

async function askLogin(ground: TurnGround, progress: Progress, attempted: Attempted): Promise<boolean> {
  progress.refusals++;
  if (progress.refusals >= LOGIN_REFUSALS_MAX) return false;
  progress.again = attempted.choice;
  if (progress.refusals === 1)
    return (await ground.login(progress.upstream, attempted.ending.message)) && !ground.cancelled.aborted;
  return endProcess(ground, progress, attempted.process ?? progress.live?.process ?? null);
}

async function switchAgent(ground: TurnGround, progress: Progress, attempted: Attempted): Promise<boolean> {
  const { ending } = attempted;
  const [next] = progress.switchTo;
  if (next === undefined || toolStarted(attempted.recorder.events)) return false;
  if (ground.onLimit === "ask" && !(await askSwitch(ground, progress.upstream, next, ending))) return false;
  emit(ground, attempted.id, {
    type: "parked",
    class: ending.class,
    resetAtMs: ending.resetAtMs,
    message: ending.message,
  });
  emit(ground, attempted.id, { type: "switched", from: progress.upstream.agent, to: next.agent });
  progress.switchTo.shift();
  progress.upstream = next;
  progress.fresh = null; // the session that was lost was the other agent's
  progress.live = ground.liveOf(next);
  return true;
}

/** A person decides whether the next agent carries on; one who cancels meanwhile does not wait. */
export async function askSwitch(
  ground: Pick<TurnGround, "host" | "cancelled">,
  from: Upstream,
  to: Upstream,
  limit: Pick<Ending, "message" | "resetAtMs">,
): Promise<boolean> {
  const { host, cancelled } = ground;
  const { message, resetAtMs } = limit;
  const cancel = Promise.withResolvers<boolean>();
  cancelled.addEventListener("abort", () => cancel.resolve(false), { once: true });
  const asked = host.onLimit?.({ agent: from.agent, next: to.agent, message, resetAtMs });
  // Whoever cannot answer has not agreed, and the turn ends as it would have.
  return Promise.race([asked?.catch(() => false) ?? false, cancel.promise]);
}

function endOf(upstream: string, reason: string, poison: EntryId | null): EntryBody {
  return { type: "upstream_end", upstream, reason, ...(poison === null ? {} : { node: poison }) };
}

/** A session that proved bad is not tried again, whatever becomes of its successor; an empty answer proves nothing. */
async function leave(ground: TurnGround, progress: Progress, attempted: Attempted): Promise<void> {
  const { id, ending } = attempted;
  if (id !== null && ending.class !== "empty")
    await ground.owner.append(endOf(id, ending.class, progress.poison));
  letGo(progress);
}

/** Whoever is told that the turn is over may rely on it: an agent that has not confirmed it is closed first. */
async function letGoInTime(ground: TurnGround, progress: Progress): Promise<void> {
  const { live } = progress;
  progress.live = null;
  if (live !== null)
    await bounded({ ...ground, resumeMs: ground.cancelMs, cancelled: NEVER }, live.session.close()).catch(
      () => undefined,
    );
}

function letGo(progress: Progress): void {
  progress.live?.session.close().catch(() => undefined);
  progress.live = null;
}

async function finish(ground: TurnGround, progress: Progress, at: Juncture): Promise<TurnEnd> {
  const { attempted, step } = at;
  const { ending, id, recorder } = attempted;
  const outcome =
    step.do === "finish"
      ? step.outcome
      : ground.cancelled.aborted || ending.class === "crashed"
        ? "interrupted"
        : "failed";
  const usage = usedBy(recorder.events, attempted.end?.usage ?? null);
  const model = modelOf(attempted, ground);
  const events =
    outcome === "completed" ? recorder.events : withoutErrorText(recorder.events, ending.message);
  const stopReason = outcome === "completed" ? "endTurn" : outcome;
  const bodies = turnMessages(events, { model, stopReason, usage });
  if (bodies.length === 0 && usage !== null) progress.spent.push({ usage, model });
  const nodes = bodies.map((body) => Object.assign(body, { id: ground.newId() }));
  const node = nodes.at(-1)?.id ?? ground.prompt;
  const drop = step.do === "roll" || (step.do === "finish" && step.upstream === "drop");
  const ended = { outcome, node: parseEntryId(node), events };
  const { holds, written } = heldAtEnd(ground, attempted, ended);
  const reset = outcome === "completed" && attempted.command === "reset";
  const { parked } = progress;
  await ground.owner.append([
    ...nodes,
    ...endBodies(ground, {
      ending,
      outcome,
      node,
      written,
      id,
      drop,
      parked,
      poison: progress.poison,
      spent: progress.spent,
    }),
    ...(reset ? [{ type: "reset", reason: "cleared" } as const] : []),
  ]);
  if (drop && ending.class === "cancelled") await letGoInTime(ground, progress);
  else if (drop || reset) letGo(progress);
  if (step.do === "park")
    emit(ground, id, {
      type: "parked",
      class: ending.class,
      resetAtMs: ending.resetAtMs,
      message: ending.message,
    });
  emit(ground, id, { type: "ended", outcome, class: ending.class });
  const { turn, prompt } = ground;
  const { resetAtMs, message } = ending;
  const result = {
    turn,
    prompt,
    outcome,
    class: ending.class,
    text: turnText(events),
    upstream: id,
    resetAtMs,
    message,
    end: attempted.end,
  };
  const { live } = progress;
  if (live === null || id === null) return { result, upstream: progress.upstream, live };
  return { result, upstream: progress.upstream, live: { ...live, holds } };
}

function modelOf({ choice }: Attempted, { settings }: TurnGround): string | null {
  const model = choice?.session.model;
  return model === undefined ? settings.model : model;
}

interface Closing {
  readonly ending: Ending;
  readonly outcome: SendResult["outcome"];
  readonly node: string;
  /** What its carrier holds, where that does not follow from how it ended. */
  readonly written: { readonly held?: EntryId | null };
  readonly id: string | null;
  readonly drop: boolean;
  readonly parked: readonly Parked[];
  readonly poison: EntryId | null;
  readonly spent: readonly Spent[];
}

function endBodies(ground: TurnGround, closing: Closing): readonly EntryBody[] {
  const { ending, outcome, node, written, id, drop, parked } = closing;
  const carrier = id === null ? {} : { upstream: id, node, ...written };
  const reset = ending.resetAtMs === null ? {} : { resetAt: new Date(ending.resetAtMs).toISOString() };
  const limits = parked.length === 0 ? {} : { parked };
  const end: EntryBody = {
    type: "turn_end",
    turn: ground.turn,
    outcome,
    class: ending.class,
    ...carrier,
    ...reset,
    ...limits,
    ...spentIn(closing.spent),
  };
  return drop && id !== null ? [end, endOf(id, ending.class, closing.poison)] : [end];
}
