import { type BranchPage, decodedPage } from "#conversation/reading";
import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import {
  carryLimits,
  type CarryLimits,
  complaintsOf,
  NO_CARRY_LIMITS,
  poisonIn,
} from "./rules/prior-budget.ts";
import type { SessionParts, Turn } from "./turn-parts.ts";
import { emit } from "#turn/host";
import { spaceOf } from "#conversation/on-space";

const PAGE_NODES = 64;
const NODES_MAX = 1_024; // what lies further back has been taken a hundred times since

/** What may be carried to an agent; costs nothing as long as none has complained. */
export async function readCarryLimits(
  { work, branch }: SessionParts,
  facts: readonly Entry[],
  agent: string,
): Promise<CarryLimits> {
  const complaints = complaintsOf(facts);
  if (complaints.length === 0) return NO_CARRY_LIMITS;
  const { id: conversation } = work.conversation;
  const { settings } = await spaceOf(work.conversation).window({
    conversation,
    from: branch.leaf,
    limit: 0,
    settings: ["compaction", "reset"],
  });
  const own = [...settings.values()].filter(({ place }) => place.conversation === conversation);
  const since = Math.max(0, ...own.map(({ seq }) => seq));
  return carryLimits(complaints, { agent, since });
}

/** The node that made the request fail, looked for from the prompt back to what the model is sent at all. */
async function findPoison({ work }: SessionParts): Promise<EntryId | null> {
  const { id: conversation } = work.conversation;
  const space = spaceOf(work.conversation);
  let page: BranchPage = await work.branchEnd.owned();
  for (let read = 0; ; read += PAGE_NODES) {
    const { entries, next } = page;
    const end = entries.findIndex(({ type }) => type === "reset" || type === "compaction");
    const poison = poisonIn(end === -1 ? entries : entries.slice(0, end), page.hidden);
    if (poison !== null || end !== -1 || next === null || read >= NODES_MAX) return poison;
    page = decodedPage(await space.page({ conversation, from: next, limit: PAGE_NODES }));
  }
}

/**
 * Something in the history makes every request fail. Where it can be told what, a person is asked whether to hide it;
 * hidden or not, no session is given it again.
 */
export async function dealWithPoison(
  turn: Turn,
  upstream: string | null,
  message: string,
): Promise<EntryId | null> {
  const { work } = turn;
  const entry = await findPoison(turn);
  if (entry === null) return null;
  const isPrompt = entry === turn.prompt.id;
  const cancel = Promise.withResolvers<boolean>();
  work.cancelled.addEventListener("abort", () => cancel.resolve(false), { once: true });
  const answer = work.host.onPoisoned?.({ entry, isPrompt, message });
  // Whoever cannot answer has not agreed.
  const hidden = await Promise.race([answer?.catch(() => false) ?? false, cancel.promise]);
  if (hidden) await work.owner.append({ type: "hide", target: entry });
  emit(work, upstream, { type: "poisoned", entry, isPrompt, hidden, message });
  return entry;
}
