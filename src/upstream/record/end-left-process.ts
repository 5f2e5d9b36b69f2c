import type { Clock } from "#conversation/clock";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import { turnsOf } from "#log/projections/turns";
import { bounded } from "#upstream/sessions/bounded";
import type { Upstream } from "#upstream/upstream";

/** Ends the process of a turn nobody ended, before anything is sent to another. */
export async function endLeftProcess(
  facts: readonly Entry[],
  at: {
    readonly upstreams: readonly [Upstream, ...Upstream[]];
    readonly clock: Clock;
    readonly resumeMs: number;
  },
): Promise<void> {
  const left = leftProcess(facts);
  if (left === null) return;
  const { upstreams } = at;
  const own = upstreams.find(({ agent, account }) => agent === left.agent && account === left.account);
  try {
    await bounded({ ...at, cancelled: NEVER }, (own ?? upstreams[0]).restart(left.process));
  } catch (cause) {
    const why = "The agent of the last turn may still be at work and could not be ended; nothing was sent";
    throw new LogError("busy", why, {}, { cause });
  }
}

const NEVER = new AbortController().signal;

/** The process that was asked last in a turn nobody ended: it may be at work still. */
function leftProcess(facts: readonly Entry[]): {
  readonly agent: string | null;
  readonly account: string | null;
  readonly process: string;
} | null {
  const open = turnsOf(facts).findLast((turn) => turn.outcome === null);
  const asked = facts.findLast((fact) => fact.type === "attempt" && fact.turn === open?.id);
  if (asked?.type !== "attempt" || asked.process === undefined) return null;
  const link = facts.findLast((fact) => fact.type === "upstream_link" && fact.upstream === asked.upstream);
  const [agent, account] = link?.type === "upstream_link" ? [link.agent, link.account ?? null] : [null, null];
  return { agent, account, process: asked.process };
}
