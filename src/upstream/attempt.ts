import type { Entry, TurnOutcome } from "#log/entry";
import type { EntryId } from "#log/ids";
import { commandIn, type CommandKind } from "./rules/transcript.ts";
import type { Ending, Parked } from "#turn/rules/ending";
import { knownUpToAfter } from "./rules/proof.ts";
import { isCertain } from "#log/projections/link-records";
import { hasOpenCall, type TurnEvent } from "#turn/rules/turn-event";
import { type Choice, chooseSession, linkBody } from "./sessions/choose.ts";
import { isRoutine, noMissingContext, readMissingContext } from "./missing-context.ts";
import { readCarryLimits } from "./context-limits.ts";
import { Recorder } from "#turn/recorder";
import { stream, type Streamed, UNSENT } from "./stream.ts";
import type { Live, Turn } from "./turn-parts.ts";
import { emit } from "#turn/host";
import { type RawEnd, type Upstream, UpstreamFailure } from "./upstream.ts";

/** How far a turn has come. */
export interface Progress {
  upstream: Upstream;
  live: Live | null;
  /** The session to try again as it is. */
  again: Choice | null;
  fresh: string | null;
  /** What made the last attempt fail, as far as can be told. */
  poison: EntryId | null;
  recovered: boolean;
  restarted: boolean;
  attempts: number;
  backoffs: number;
  refusals: number;
  readonly switchTo: Upstream[];
  readonly parked: Parked[];
}

export interface Attempted {
  readonly ending: Ending;
  /** The upstream id that carried it in the end; null when none could be had. */
  readonly id: string | null;
  /** The process that was asked; null when none was. */
  readonly process: string | null;
  readonly choice: Choice | null;
  readonly recorder: Recorder;
  readonly confirmed: boolean;
  readonly end: RawEnd | null;
  readonly rolled: boolean;
  /** The prompt was a command of the agent's own program. */
  readonly command: CommandKind | null;
}

/** One sending of the prompt to one upstream. */
export async function attempt(turn: Turn, progress: Progress): Promise<Attempted> {
  const { work } = turn;
  const recorder = new Recorder(work.owner, turn.prompt.turn, turn.options.clock);
  const { upstream } = progress;
  const facts = await (progress.attempts++ === 0 ? work.facts.owned() : work.facts.now());
  const limits = await readCarryLimits(turn, facts, upstream.agent);
  let choice: Choice;
  try {
    const whole = limits.whole && progress.fresh !== "poisoned";
    const { poisoned } = limits;
    choice = sameAgain(progress) ?? (await chooseSession(turn, { ...progress, facts, whole, poisoned }));
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return {
      recorder,
      id: null,
      process: error.process,
      choice: null,
      confirmed: true,
      end: null,
      rolled: false,
      command: null,
      ending: error.ending,
    };
  }
  const name = commandIn(turn.prompt.content);
  const command = name === null ? null : (choice.session.commandOf?.(name) ?? null);
  // What the agent's program does itself says nothing to its model, and would not be known for it behind other words.
  const firstUse = isUnused(facts, choice.id);
  const lacking =
    command === null
      ? await readMissingContext(turn, choice, { ...limits, firstUse })
      : noMissingContext(choice);
  const { prior, priorContext, fidelity } = lacking;
  const sent = priorContext === null ? {} : { priorContext };
  const { session, id, reason } = choice;
  // Taken before the prompt: a process that is replaced as soon as it has answered proves nothing.
  const { process } = session;
  if (work.cancelled.aborted) {
    if (progress.live?.session !== session) session.close().catch(() => undefined);
    return { ...UNSENT, command, recorder, process, choice: null };
  }
  // Held before anything is written or sent: whatever fails from here on, somebody lets go of it.
  const { live } = progress;
  const knownUpTo = live?.session === session && live.forked !== true ? live.holds : null;
  progress.live = { id, session, process, holds: null };
  await work.owner.append([
    ...linkBody({ id, reason, node: fidelity === "transcript" ? turn.branch.lastModelNode : null }, upstream),
    { type: "attempt", turn: turn.prompt.turn, upstream: id, fidelity, process, ...sent },
  ]);
  if (progress.again === null && (reason !== null || fidelity !== "native")) {
    const restored = priorContext?.messages ?? 0;
    const silent = isRoutine(choice, lacking);
    const about = { fidelity, silent, restored, priorContext };
    emit(work, id, { type: "session", reason: reason ?? "resumed", ...about });
  }
  const streamed = await stream(turn, { choice, prior, recorder, upstream, command });
  if (streamed.id === null) {
    progress.live = { id, session, process, holds: knownUpTo };
    return { ...UNSENT, command, recorder, process, choice: null };
  }
  progress.live = { id: streamed.id, session, process, holds: null };
  return {
    ...streamed,
    command,
    recorder,
    process,
    choice: afterwards(turn, { choice, streamed, upstream }),
  };
}

/** What is left of the session once the prompt was sent to it. It is told nothing twice that it keeps. */
function afterwards(
  turn: Turn,
  at: { readonly choice: Choice; readonly streamed: Streamed; readonly upstream: Upstream },
): Choice {
  const { choice, streamed, upstream } = at;
  const { keepsPrompt = false } = upstream.capabilities;
  const { id: prompt } = turn.prompt;
  const { begun, ending, rolled } = streamed;
  const id = streamed.id ?? choice.id;
  const after = { ...choice, id, reason: null, suspicious: true, lastNode: prompt };
  if (rolled) return { ...after, knownUpTo: null, proven: false, fidelity: "preamble" };
  const knownUpTo = knownUpToAfter(ending.class, { knownUpTo: choice.knownUpTo, prompt, begun, keepsPrompt });
  return { ...after, knownUpTo, proven: choice.proven || knownUpTo === prompt };
}

/** Nothing was sent to the session yet. */
function isUnused(facts: readonly Entry[], upstream: string): boolean {
  return !facts.some((fact) => fact.type === "attempt" && fact.upstream === upstream);
}

interface Ended {
  readonly outcome: TurnOutcome;
  readonly node: EntryId;
  readonly events: readonly TurnEvent[];
}

interface EndKnowledge {
  /** Up to where the session holds everything; null when nothing is known. */
  readonly holds: EntryId | null;
  /** The same for the log, where it does not follow from how the turn ended. */
  readonly written: { readonly held?: EntryId | null };
}

/** What a session holds after its turn. */
export function endKnowledge(turn: Turn, attempted: Attempted, ended: Ended): EndKnowledge {
  const { choice, command, ending } = attempted;
  const { outcome, node, events } = ended;
  const before = choice?.knownUpTo ?? null;
  // A session that it rolled to never held what came before.
  if (attempted.rolled) return { holds: null, written: { held: null } };
  // A command tells the model nothing, so what it lacked it lacks.
  if (command !== null && choice?.proven !== true) return { holds: before, written: { held: before } };
  // What a tool did that was at work when the turn was stopped the session may not know.
  const stopped = outcome === "interrupted" && hasOpenCall(events);
  const certain = !stopped && isCertain({ outcome, class: ending.class, node }, turn.prompt.id);
  if (certain) return { holds: node, written: {} };
  return { holds: before, written: before === null ? {} : { held: before } };
}

/** After an overload or a login the same session goes on, if the same process still holds it. */
function sameAgain(progress: Progress): Choice | null {
  const { again, live } = progress;
  const still =
    again !== null &&
    live !== null &&
    live.session === again.session &&
    live.session.process === live.process;
  if (!still) progress.again = null;
  return progress.again;
}
