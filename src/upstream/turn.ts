import { NEVER } from "#conversation/clock";
import { type Ending, nextStep } from "#turn/rules/ending";
import { linkRecords } from "#log/projections/link-records";
import { toolStarted } from "#turn/rules/turn-event";
import { attempt, type Attempted, type Progress } from "./attempt.ts";
import { type EndedAttempt, endOf, finish, letGo, type TurnEnd, unanswered } from "./finish-turn.ts";
import { bounded, boundsOf } from "./sessions/bounded.ts";
import { parkedBy } from "./parked.ts";
import { dealWithPoison } from "./context-limits.ts";
import type { Turn, Work } from "./turn-parts.ts";
import { emit } from "#turn/host";
import type { Upstream } from "./upstream.ts";

const LOGIN_REFUSALS_MAX = 3; // the first asks for a login, the second replaces a process that kept the old one

/** Carries one accepted prompt to its end, through as many upstreams as the rules allow. */
export async function runTurn(turn: Turn, upstreams: readonly [Upstream, ...Upstream[]]): Promise<TurnEnd> {
  const [first, ...others] = upstreams;
  const unused = {
    again: null,
    fresh: turn.carrier.fresh,
    poison: null,
    recovered: false,
    restarted: false,
    attempts: 0,
    backoffs: 0,
    refusals: 0,
  };
  const progress: Progress = {
    ...unused,
    upstream: first,
    live: turn.carrier.liveOf(first),
    switchTo: others,
    parked: [],
  };
  try {
    return await runAttempts(turn, progress);
  } catch (error) {
    // A session the runtime does not know of would stay open for good.
    if (progress.live?.session !== turn.carrier.liveOf(progress.upstream)?.session) letGo(progress);
    throw error;
  }
}

async function runAttempts(turn: Turn, progress: Progress): Promise<TurnEnd> {
  for (;;) {
    const attempted = await attempt(turn, progress);
    const { ending } = attempted;
    await (ending.class === "completed" ? attempted.recorder.answered() : attempted.recorder.settled());
    progress.poison =
      ending.class === "poisoned" ? await dealWithPoison(turn, attempted.id, ending.message) : null;
    const facts = {
      promptPoisoned: progress.poison === turn.prompt.id,
      toolStarted: toolStarted(attempted.recorder.events),
      recovered: progress.recovered,
      backoffs: progress.backoffs,
      cancelConfirmed: attempted.confirmed,
      failedBefore: ending.class === "failed" && (await hasFailedBefore(turn, attempted)),
    };
    const step = nextStep(attempted.ending.class, facts);
    if (step.do === "park") progress.parked.push(...parkedBy(progress.upstream, attempted.ending.resetAtMs));
    // Whatever follows, the old process group is ended before another begins.
    const ended =
      attempted.ending.class !== "crashed" || (await endProcess(turn, progress, attempted.process));
    if (!ended || !(await goOn(turn, progress, { attempted, step })))
      return finish(turn, progress, { attempted, step });
    const bodies = unanswered(turn, attempted);
    if (bodies.length > 0) await turn.work.owner.append(bodies);
  }
}

async function hasFailedBefore({ work }: Turn, { id }: Attempted): Promise<boolean> {
  const link = linkRecords(await work.facts.owned()).find(({ upstream }) => upstream === id);
  return link !== undefined && link.failures > 0;
}

/** Ends the process group; false when it cannot be told that it ended. */
async function endProcess(turn: Turn, progress: Progress, process: string | null): Promise<boolean> {
  progress.live = null;
  try {
    await bounded({ ...boundsOf(turn), cancelled: NEVER }, progress.upstream.restart(process));
    progress.restarted = true;
    return true;
  } catch {
    return false;
  }
}

/** Prepares another attempt where the step asks for one; false when the turn is over. */
async function goOn(turn: Turn, progress: Progress, at: EndedAttempt): Promise<boolean> {
  const { step, attempted } = at;
  const { ending } = attempted;
  if (turn.work.cancelled.aborted) return false;
  progress.again = null;
  switch (step.do) {
    case "finish":
      return false;
    case "back_off":
      emit(turn.work, attempted.id, { type: "backing_off", delayMs: step.delayMs, message: ending.message });
      progress.backoffs++;
      progress.again = attempted.choice;
      await turn.options.clock.sleep(step.delayMs, turn.work.cancelled);
      return !turn.work.cancelled.aborted;
    case "ask_auth":
      return askLogin(turn, progress, attempted);
    case "roll":
    case "restart":
      emit(turn.work, attempted.id, { type: "lost", class: ending.class, message: ending.message });
      progress.recovered = true;
      progress.fresh = step.do === "roll" ? ending.class : null;
      if (step.do === "roll") await leave(turn, progress, attempted);
      return true;
    case "park":
      return switchAgent(turn, progress, attempted);
  }
}

async function askLogin(turn: Turn, progress: Progress, attempted: Attempted): Promise<boolean> {
  progress.refusals++;
  if (progress.refusals >= LOGIN_REFUSALS_MAX) return false;
  progress.again = attempted.choice;
  if (progress.refusals === 1)
    return (
      (await turn.carrier.login(progress.upstream, attempted.ending.message)) && !turn.work.cancelled.aborted
    );
  return endProcess(turn, progress, attempted.process ?? progress.live?.process ?? null);
}

async function switchAgent(turn: Turn, progress: Progress, attempted: Attempted): Promise<boolean> {
  const { ending } = attempted;
  const [next] = progress.switchTo;
  if (next === undefined || toolStarted(attempted.recorder.events)) return false;
  if (turn.carrier.whenLimited === "ask" && !(await askSwitch(turn.work, progress.upstream, next, ending)))
    return false;
  emit(turn.work, attempted.id, {
    type: "parked",
    class: ending.class,
    resetAtMs: ending.resetAtMs,
    message: ending.message,
  });
  emit(turn.work, attempted.id, { type: "switched", from: progress.upstream.agent, to: next.agent });
  progress.switchTo.shift();
  progress.upstream = next;
  progress.fresh = null; // the session that was lost was the other agent's
  progress.live = turn.carrier.liveOf(next);
  return true;
}

/** A person decides whether the next agent carries on; one who cancels meanwhile does not wait. */
export async function askSwitch(
  asking: Pick<Work, "host" | "cancelled">,
  from: Upstream,
  to: Upstream,
  limit: Pick<Ending, "message" | "resetAtMs">,
): Promise<boolean> {
  const { host, cancelled } = asking;
  const { message, resetAtMs } = limit;
  const cancel = Promise.withResolvers<boolean>();
  cancelled.addEventListener("abort", () => cancel.resolve(false), { once: true });
  const answer = host.onLimit?.({ agent: from.agent, next: to.agent, message, resetAtMs });
  // Whoever cannot answer has not agreed, and the turn ends as it would have.
  return Promise.race([answer?.catch(() => false) ?? false, cancel.promise]);
}

/** A session that proved bad is not tried again, whatever becomes of its successor; an empty answer proves nothing. */
async function leave(turn: Turn, progress: Progress, attempted: Attempted): Promise<void> {
  const { id, ending } = attempted;
  if (id !== null && ending.class !== "empty")
    await turn.work.owner.append(endOf(id, ending.class, progress.poison));
  letGo(progress);
}
