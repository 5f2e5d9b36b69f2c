import type { Fidelity, Told } from "#log/entry";
import type { CarryLimits } from "#sending/rules/carry-limits";
import { budgetFor, type PriorBudget } from "#sending/rules/prior-budget";
import { NO_PRIOR_CONTEXT, type PriorContext } from "#sending/rules/prior-context";
import { toldOf } from "#sending/rules/told";
import type { Choice, SessionInputs } from "#sending/choose";
import { readPriorContext } from "./read-prior.ts";

/** What a session has to be told before it can go on. */
export interface LackingInput {
  readonly prior: PriorContext;
  /** The same in short, for the log and for people; null when it lacks nothing. */
  readonly told: Told | null;
  readonly fidelity: Fidelity;
}

/**
 * A session that is proven lacks nothing of the branch, and nothing is read for it; on its first use it is told what was
 * done on branches that were left, if there are any.
 */
export async function readLacking(
  inputs: SessionInputs & { readonly prior: PriorBudget | null },
  choice: Choice,
  { tooLong, poisoned, firstUse }: CarryLimits & { readonly firstUse: boolean },
): Promise<LackingInput> {
  const { proven, held, fidelity, lastNode, session } = choice;
  if (proven && !(firstUse && (await hasBranches(inputs))))
    return { prior: NO_PRIOR_CONTEXT, told: null, fidelity };
  const { space, conversation, leaf, prior: given } = inputs;
  const { windowTokens = null } = session;
  const budget = budgetFor({ given, windowTokens, isEmpty: lastNode === null, tooLong });
  const prior = await readPriorContext(space, conversation, {
    from: leaf,
    budget,
    since: proven ? null : held,
    poisoned,
  });
  if (proven) {
    const lacking = { ...NO_PRIOR_CONTEXT, elsewhere: prior.elsewhere };
    return { prior: lacking, told: toldOf(lacking), fidelity };
  }
  const told = toldOf(prior);
  // Where nothing came before, an empty session holds all there is.
  return { prior, told, fidelity: told === null ? "native" : fidelity };
}

async function hasBranches({ space, conversation }: SessionInputs): Promise<boolean> {
  return (await space.head(conversation)).segments > 1;
}

/** For a prompt that tells the model nothing. */
export function lackingNothing({ fidelity }: Choice): LackingInput {
  return { prior: NO_PRIOR_CONTEXT, told: null, fidelity: fidelity === "preamble" ? "native" : fidelity };
}

/** Whether people need not hear of the session: it is told all that it lacks, and nobody had to be told before. */
export function isUnremarkable(choice: Choice, { told }: LackingInput): boolean {
  if (choice.proven) return choice.silent;
  return told === null || (choice.silent && told.leftOut === 0 && told.more !== true);
}
