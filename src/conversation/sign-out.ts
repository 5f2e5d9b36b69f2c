import { decodeEntry } from "#log/codec";
import type { EntryOf } from "#log/entry";
import { type ErrorCode, isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { type LineagePlace, resumableIds, type SignedIn, speaksForAccount } from "#log/projections/signed-in";
import type { SpaceStore } from "#store/facets";
import type { Listed } from "#store/requests";
import type { Conversation } from "./conversation.ts";

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

/** The conversations of one space. */
interface SpaceConversations {
  readonly space: SpaceStore;
  listAll(): AsyncIterable<Listed>;
  conversation(id: string): Promise<Conversation>;
}

/**
 * One of the two acts that let go of what was before; the other is `Conversation.newChat`. Limits, crashes, expiry, logins
 * and model switches are none of them.
 *
 * Makes every upstream id of an account unresumable, in every conversation of the space, and begins the context anew
 * where the account spoke last. One that is damaged, or busy with a turn, does not keep the others from it.
 */
export async function signOut(
  holdfast: SpaceConversations,
  who: string | SignOutRequest,
): Promise<SignedOut> {
  const request: SignOutRequest = typeof who === "string" ? { account: who } : who;
  const seen = new Set<ConversationId>();
  const reset: ConversationId[] = [];
  const failed: SignOutFailure[] = [];
  let ended = 0;
  let found: number;
  do {
    found = 0;
    for await (const { conversation } of holdfast.listAll()) {
      if (seen.has(conversation)) continue;
      seen.add(conversation);
      found++;
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
  } while (found > 0);
  return { ended, reset, failed };
}

/** From outside a turn: a conversation that is busy now is not resumed afterwards either. */
async function endIds(holdfast: SpaceConversations, id: ConversationId, who: SignedIn): Promise<number> {
  const conversation = await holdfast.conversation(id);
  const ids = resumableIds(await conversation.facts(["upstream_link", "upstream_end"]), who);
  for (const upstream of ids) await conversation.endUpstream(upstream, "sign_out");
  return ids.length;
}

async function resetContext(
  holdfast: SpaceConversations,
  id: ConversationId,
  request: SignOutRequest,
): Promise<boolean> {
  if (request.keepContext === true) return false;
  const link = await latestLink(holdfast.space, id);
  if (link === null) return false;
  const { settings } = await holdfast.space.window({ conversation: id, limit: 0, settings: ["reset"] });
  const found = settings.get("reset");
  const forksUp = found === undefined ? -1 : link.lineage.indexOf(found.place.conversation);
  // One above the link's own log is older than anything there.
  const reset =
    found === undefined ? null : { forksUp: forksUp === -1 ? link.lineage.length : forksUp, seq: found.seq };
  if (!speaksForAccount(link, reset, request)) return false;
  await (await holdfast.conversation(id)).append({ type: "reset", reason: "sign_out" });
  return true;
}

interface FoundLink extends LineagePlace {
  readonly entry: EntryOf<"upstream_link">;
  /** The logs from the conversation's own up to the one that holds the link. */
  readonly lineage: readonly ConversationId[];
}

/** The link a conversation was made last, its own or one it inherited: a fork's context is its source's, too. */
async function latestLink(space: SpaceStore, conversation: ConversationId): Promise<FoundLink | null> {
  const lineage: ConversationId[] = [];
  let at: { readonly id: ConversationId; readonly before?: number } | null = { id: conversation };
  while (at !== null) {
    lineage.push(at.id);
    const [stored] = await space.read({
      conversation: at.id,
      types: ["upstream_link"],
      newestFirst: true,
      ...(at.before === undefined ? {} : { after: at.before }),
      limit: 1,
    });
    const entry = stored === undefined ? null : decodeEntry(stored);
    if (entry?.type === "upstream_link")
      return { entry, seq: entry.seq, forksUp: lineage.length - 1, lineage };
    at = await sourceOf(space, at.id);
  }
  return null;
}

async function sourceOf(
  space: SpaceStore,
  id: ConversationId,
): Promise<{ readonly id: ConversationId; readonly before: number } | null> {
  const { origin } = await space.head(id);
  if (origin === null) return null;
  try {
    await space.head(origin.source);
    return { id: origin.source, before: origin.head + 1 };
  } catch (error) {
    // The links of an erased source went with it.
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}
