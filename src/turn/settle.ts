import { recordedEvents, attemptEnd } from "./rules/attempt-record.ts";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import type { Usage } from "#log/message";
import type { ConversationId } from "#log/ids";
import { turnsOf } from "#log/projections/runs";
import { TurnNodes } from "./rules/turn-record.ts";
import { hasCompacted, type TurnEvent } from "#turn/rules/turn-event";
import type { SpaceStore } from "#store/facets";
import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import { readLastModelNode } from "./last-said.ts";

const PAGE_UPDATES = 500;

interface SettleInput {
  readonly conversation: Conversation;
  readonly owner: Owner;
  newId(): string;
}

/**
 * Ends a turn that a dead process left open: what it had streamed becomes a reply marked interrupted, tools that had
 * finished keep their results, and nothing is sent or run again.
 */
export async function settleOpenTurn(at: SettleInput, facts: readonly Entry[]): Promise<string | null> {
  const { space, id: conversation } = at.conversation;
  const open = turnsOf(facts).findLast((turn) => turn.outcome === null);
  if (open === undefined) return null;
  const start = facts.find((fact) => fact.type === "turn_start" && fact.turn === open.id);
  const prompt = start?.type === "turn_start" ? start.prompt : undefined;
  const { said, upstream, spent, compacted } = await lastAttempt(space, conversation, open.startSeq);
  const nodes = said
    .messages({ model: null, stopReason: "interrupted" })
    .map((body) => Object.assign(body, { id: at.newId() }));
  const carried = nodes.at(-1)?.id ?? prompt;
  const held = compacted ? { held: null } : {};
  const carrier =
    upstream === null ? {} : { upstream, ...(carried === undefined ? {} : { node: carried }), ...held };
  const end: EntryBody = {
    type: "turn_end",
    turn: open.id,
    outcome: "interrupted",
    class: "crashed",
    ...carrier,
  };
  const ends = spent.flatMap((usage) =>
    attemptEnd({ turn: open.id, class: "failed", upstream: null, model: null, usage }),
  );
  await at.owner.append([...(await inPlace(at, nodes, prompt)), ...ends, end], { key: settleKey(open.id) });
  return open.id;
}

/** Under this key stands the end of a turn that was not ended by whoever had sent it. */
export function settleKey(turn: string): string {
  return `settle/${turn}`;
}

/** The reply belongs under its prompt; someone who has moved on since finds the leaf where they left it. */
export async function inPlace(
  at: Pick<SettleInput, "conversation">,
  nodes: readonly EntryBody[],
  prompt: string | undefined,
): Promise<readonly EntryBody[]> {
  const { space, id } = at.conversation;
  const { leaf } = await space.head(id);
  const [first, ...others] = nodes;
  if (first === undefined || prompt === undefined) return nodes;
  // Who has only changed a setting has not moved on.
  if ((await readLastModelNode(space, id, leaf)) === prompt) return nodes;
  return [{ ...first, parentId: prompt }, ...others, { type: "leaf", target: leaf.id }];
}

/** What the last attempt streamed; an earlier one's text was superseded when it was sent again. */
async function lastAttempt(
  space: SpaceStore,
  conversation: ConversationId,
  startSeq: number,
): Promise<{
  readonly said: TurnNodes;
  readonly upstream: string | null;
  /** What earlier ones used, where format 1 put it among the updates. */
  readonly spent: readonly Usage[];
  readonly compacted: boolean;
}> {
  const types = ["update", "attempt", "upstream_link"] as const;
  const spent: Usage[] = [];
  let said = new TurnNodes();
  let upstream: string | null = null;
  let compacted = false;
  for (let after = startSeq; ;) {
    const stored = await space.read({ conversation, after, limit: PAGE_UPDATES, types });
    for (const entry of stored.map((one) => decodeEntry(one))) {
      if (entry.type === "upstream_link") upstream = entry.upstream;
      else if (entry.type === "attempt") [said, upstream] = [new TurnNodes(), entry.upstream ?? null];
      const events = eventsOf(entry);
      compacted ||= hasCompacted(events);
      for (const event of events) {
        if (event.type === "usage") spent.push(event.usage);
        else said.add(event);
      }
    }
    after = stored.at(-1)?.seq ?? after;
    if (stored.length < PAGE_UPDATES) return { said, upstream, spent, compacted };
  }
}

function eventsOf(entry: Entry): readonly TurnEvent[] {
  return entry.type === "update" ? (recordedEvents(entry) ?? []) : [];
}
