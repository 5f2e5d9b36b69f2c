import type { Fidelity, PriorContextCounts } from "#log/entry";
import { type CarryLimits, budgetFor } from "./rules/prior-budget.ts";
import { NO_PRIOR_CONTEXT, type PriorContext } from "./rules/prior-context.ts";
import { countsOf } from "./rules/preamble.ts";
import type { Choice } from "./sessions/choose.ts";
import type { SessionParts } from "./turn-parts.ts";
import type { UpstreamSession } from "./upstream.ts";
import { readPriorContext } from "./read-prior.ts";
import { spaceOf } from "#conversation/on-space";

/** What a session has to be told before it can go on. */
export interface MissingContext {
  readonly prior: PriorContext;
  /** The same in short, for the log and for people; null when it lacks nothing. */
  readonly priorContext: PriorContextCounts | null;
  readonly fidelity: Fidelity;
}

/** A session that stands ready, and how it came to know the conversation. */
export interface Connected
  extends Pick<Choice, "reason" | "fidelity" | "silent">, Pick<MissingContext, "priorContext"> {
  readonly agent: string;
  readonly session: UpstreamSession;
}

/**
 * A session that is proven lacks nothing of the branch, and nothing is read for it; on its first use it is told what was
 * done on branches that were left, if there are any.
 */
export async function readMissingContext(
  parts: SessionParts,
  choice: Choice,
  { tooLong, poisoned, firstUse }: CarryLimits & { readonly firstUse: boolean },
): Promise<MissingContext> {
  const { proven, knownUpTo, fidelity, lastNode, session } = choice;
  if (proven && !(firstUse && (await hasBranches(parts))))
    return { prior: NO_PRIOR_CONTEXT, priorContext: null, fidelity };
  const { prior: limits } = parts.options;
  const { conversation } = parts.work;
  const { windowTokens = null } = session;
  const budget = budgetFor({ limits, windowTokens, isEmpty: lastNode === null, tooLong });
  const prior = await readPriorContext(spaceOf(conversation), conversation.id, {
    from: parts.branch.leaf,
    budget,
    since: proven ? null : knownUpTo,
    poisoned,
  });
  if (proven) {
    const lacking = { ...NO_PRIOR_CONTEXT, elsewhere: prior.elsewhere };
    return { prior: lacking, priorContext: countsOf(lacking), fidelity };
  }
  const counts = countsOf(prior);
  // Where nothing came before, an empty session holds all there is.
  return { prior, priorContext: counts, fidelity: counts === null ? "native" : fidelity };
}

async function hasBranches({ work }: SessionParts): Promise<boolean> {
  return (await work.conversation.head()).segments > 1;
}

/** For a prompt that tells the model nothing. */
export function noMissingContext({ fidelity }: Choice): MissingContext {
  return {
    prior: NO_PRIOR_CONTEXT,
    priorContext: null,
    fidelity: fidelity === "preamble" ? "native" : fidelity,
  };
}

/** Whether people need not hear of the session: it is told all that it lacks, and nobody had to be told before. */
export function isRoutine(choice: Choice, { priorContext }: MissingContext): boolean {
  if (choice.proven) return choice.silent;
  return priorContext === null || (choice.silent && priorContext.leftOut === 0 && priorContext.more !== true);
}
