import { type ErrorCode, isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import {
  ACCOUNT_TYPES,
  AccountReader,
  isTheirs,
  resumableIds,
  type SignedIn,
} from "#log/projections/signed-in";
import { readLineage, readLinks } from "./read-chain.ts";
import type { Holdfast } from "./holdfast.ts";
import { spaceOf } from "./on-space.ts";

export interface SignOutRequest extends SignedIn {
  /** The next account may be told what was said under this one. */
  readonly keepContext?: boolean;
  readonly onProgress?: (conversations: number) => void;
}

export interface SignedOut {
  /** How many upstream ids are not resumed any more. */
  readonly ended: number;
  /** The conversations whose context starts empty now. */
  readonly reset: readonly ConversationId[];
  /** The conversations where not all of it could be done, and why; doing it again does the rest. */
  readonly failed: readonly SignOutFailure[];
}

export interface SignOutFailure {
  readonly conversation: ConversationId;
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * One of the two acts that let go of what was before; the other is `Conversation.newChat`. Limits, crashes, expiry, logins
 * and model switches are none of them.
 *
 * Makes every upstream id of an account unresumable, in every conversation of the space, and empties each context that
 * holds anything said under the account, whoever spoke last: what others said since may repeat it. A conversation that is
 * damaged, or busy with a turn, does not keep the others from it.
 */
export async function signOut(holdfast: Holdfast, input: string | SignOutRequest): Promise<SignedOut> {
  const request: SignOutRequest = typeof input === "string" ? { account: input } : input;
  const seen = new Set<ConversationId>();
  const reset: ConversationId[] = [];
  const failed: SignOutFailure[] = [];
  let ended = 0;
  let matches: number;
  do {
    matches = 0;
    for await (const { conversation } of holdfast.listAll()) {
      if (seen.has(conversation)) continue;
      seen.add(conversation);
      matches++;
      request.onProgress?.(seen.size);
      try {
        ended += await endIds(holdfast, conversation, request);
        if (await resetContext(holdfast, conversation, request)) reset.push(conversation);
      } catch (error) {
        if (!isLogError(error)) throw error;
        const { code, message } = error;
        if (code !== "conversation_not_found") failed.push({ conversation, code, message });
      }
    }
    // A list is in order of change: one that was written to meanwhile may have moved to where we have been.
  } while (matches > 0);
  return { ended, reset, failed };
}

/** From outside a turn: a conversation that is busy now is not resumed afterwards either. */
async function endIds(holdfast: Holdfast, id: ConversationId, account: SignedIn): Promise<number> {
  const conversation = await holdfast.conversation(id);
  const ids = resumableIds(await conversation.facts(["upstream_link", "upstream_end"]), account);
  for (const upstream of ids) await conversation.endUpstream(upstream, "sign_out");
  return ids.length;
}

async function resetContext(
  holdfast: Holdfast,
  id: ConversationId,
  request: SignOutRequest,
): Promise<boolean> {
  if (request.keepContext === true) return false;
  const space = spaceOf(holdfast);
  if (!(await readLinks(holdfast.handle(id))).some((link) => isTheirs(link, request))) return false;
  const { settings } = await space.window({ conversation: id, limit: 0, settings: ["reset"] });
  const reader = new AccountReader(request, settings.get("reset")?.id ?? null);
  if (!(await readLineage(space, id, reader, { types: ACCOUNT_TYPES })).found) return false;
  await (await holdfast.conversation(id)).append({ type: "reset", reason: "sign_out" });
  return true;
}
