import type { Entry } from "../../log/entry.ts";
import type { EntryId } from "../../log/ids.ts";
import type { Ending } from "../../log/sending/ending.ts";
import { heldAfter } from "../../log/sending/proof.ts";
import type { Parked } from "../../log/sending/parking.ts";
import type { Spent } from "../../log/sending/spent.ts";
import { type Choice, chooseSession, type Live } from "./choose.ts";
import { isUnremarkable, readLacking } from "./prior/lacking.ts";
import { readCarryLimits } from "./prior/limits.ts";
import { linkBody } from "./link.ts";
import { Recorder } from "./recorder.ts";
import { stream, type Streamed, UNSENT } from "./stream.ts";
import { emit, type TurnGround } from "./turn-ground.ts";
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
  backoffs: number;
  refusals: number;
  readonly switchTo: Upstream[];
  readonly parked: Parked[];
  /** What attempts used that were given up. */
  readonly spent: Spent[];
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
}

/** One sending of the prompt to one upstream. */
export async function attempt(ground: TurnGround, progress: Progress): Promise<Attempted> {
  const recorder = new Recorder(ground.owner, ground.turn, ground.clock);
  const { upstream } = progress;
  const facts = await ground.facts.now();
  const limits = await readCarryLimits(ground, facts, upstream.agent);
  let choice: Choice;
  try {
    const whole = limits.whole && progress.fresh !== "poisoned";
    const { poisoned } = limits;
    choice = sameAgain(progress) ?? (await chooseSession(ground, { ...progress, facts, whole, poisoned }));
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return {
      recorder,
      id: null,
      process: error.process,
      choice: null,
      confirmed: true,
      end: null,
      ending: error.ending,
    };
  }
  const lacking = await readLacking(ground, choice, { ...limits, firstUse: isUnused(facts, choice.id) });
  const { prior, told, fidelity } = lacking;
  const { session, id, reason } = choice;
  // Taken before the prompt: a process that is replaced as soon as it has answered proves nothing.
  const { process } = session;
  if (ground.cancelled.aborted) {
    if (progress.live?.session !== session) session.close().catch(() => undefined);
    return { ...UNSENT, recorder, process, choice: null };
  }
  // Held before anything is written or sent: whatever fails from here on, somebody lets go of it.
  const held = progress.live?.session === session ? progress.live.holds : null;
  progress.live = { id, session, process, holds: null };
  await ground.owner.append([
    ...linkBody({ id, reason, node: fidelity === "transcript" ? ground.spoken : null }, upstream),
    {
      type: "attempt",
      turn: ground.turn,
      upstream: id,
      fidelity,
      process,
      ...(told === null ? {} : { told }),
    },
  ]);
  if (progress.again === null && (reason !== null || fidelity !== "native")) {
    const restored = told?.messages ?? 0;
    const silent = isUnremarkable(choice, lacking);
    emit(ground, id, { type: "session", reason: reason ?? "resumed", fidelity, silent, restored, told });
  }
  const streamed = await stream(ground, { choice, prior, recorder, upstream });
  if (streamed.id === null) {
    progress.live = { id, session, process, holds: held };
    return { ...UNSENT, recorder, process, choice: null };
  }
  progress.live = { id: streamed.id, session, process, holds: null };
  return {
    ...streamed,
    recorder,
    process,
    choice: afterwards(ground, { choice, streamed, upstream }),
  };
}

/** What is left of the session once the prompt was sent to it. It is told nothing twice that it keeps. */
function afterwards(
  ground: TurnGround,
  at: { readonly choice: Choice; readonly streamed: Streamed; readonly upstream: Upstream },
): Choice {
  const { choice, streamed, upstream } = at;
  const { keepsPrompt = false } = upstream.capabilities;
  const { prompt } = ground;
  const { begun, ending } = streamed;
  const held = heldAfter(ending.class, { held: choice.held, prompt, begun, keepsPrompt });
  const proven = choice.proven || held === prompt;
  return {
    ...choice,
    id: streamed.id ?? choice.id,
    reason: null,
    suspicious: true,
    lastNode: prompt,
    held,
    proven,
  };
}

/** Nothing was sent to the session yet. */
function isUnused(facts: readonly Entry[], upstream: string): boolean {
  return !facts.some((fact) => fact.type === "attempt" && fact.upstream === upstream);
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
