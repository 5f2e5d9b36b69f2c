import type { Clock } from "#conversation/clock";
import type { SessionParts } from "#upstream/turn-parts";
import { UpstreamFailure, type UpstreamSession } from "#upstream/upstream";

interface Bounds {
  readonly clock: Clock;
  readonly resumeMs: number;
  readonly cancelled: AbortSignal;
  /** What it means when no answer comes; `crashed` when absent. */
  readonly late?: "crashed" | "lost";
}

export function boundsOf({ work, options }: Pick<SessionParts, "work" | "options">): Bounds {
  return { clock: options.clock, resumeMs: options.resumeMs, cancelled: work.cancelled };
}

/** No call to an upstream may hang a conversation, and a person who cancels does not wait for one. */
export async function bounded<T>(bounds: Bounds, work: Promise<T>): Promise<T> {
  const { clock, resumeMs, cancelled, late: lateClass = "crashed" } = bounds;
  const done = new AbortController();
  const late = clock.sleep(resumeMs, AbortSignal.any([done.signal, cancelled])).then((): T => {
    const ending = cancelled.aborted
      ? ({ class: "cancelled", message: "Cancelled" } as const)
      : { class: lateClass, message: "The agent did not answer in time" };
    throw new UpstreamFailure({ ...ending, resetAtMs: null });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort("over");
  }
}

/** A session that comes too late is let go of; one without an id cannot be linked, so it is none. */
export async function boundedSession(
  bounds: Bounds,
  work: Promise<UpstreamSession>,
): Promise<UpstreamSession> {
  let wanted = true;
  const session = work.then((made) => {
    if (!wanted) made.close().catch(() => undefined);
    return made;
  });
  try {
    const made = await bounded(bounds, session);
    if (made.id.trim() !== "") return made;
    made.close().catch(() => undefined);
    throw new UpstreamFailure({
      class: "failed",
      message: "The agent returned a session without an id",
      resetAtMs: null,
    });
  } catch (error) {
    wanted = false;
    throw asFailure(error);
  }
}

/** Whatever an adapter throws is an ending: it must not leave the turn open. */
export function asFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UpstreamFailure({ class: "failed", message, resetAtMs: null });
}
