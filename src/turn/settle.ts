import { recordedEvents, attemptEnd } from "./rules/attempt-record.ts";
import type { Entry, EntryBody } from "#log/entry";
import type { Usage } from "#log/message";
import type { EntryId } from "#log/ids";
import { turnsOf } from "#log/projections/turns";
import { runEnd } from "./rules/ending.ts";
import { TurnNodes } from "./rules/turn-record.ts";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import { eachEntry } from "#conversation/read-log";
import { endLeftTools } from "./effects/left-processes.ts";
import { readLastModelNode, readModelNodeBeforeSeed } from "./last-said.ts";
import { spaceOf } from "#conversation/on-space";

interface SettleInput {
  readonly conversation: Conversation;
  readonly owner: Owner;
  newId(): string;
}

/**
 * Ends a turn that a dead process left open: what its tools started is ended, what it had streamed becomes a reply marked
 * interrupted, tools that had finished keep their results, and nothing is sent or run again.
 */
export async function settleOpenTurn(input: SettleInput, facts: readonly Entry[]): Promise<string | null> {
  const open = turnsOf(facts).findLast((turn) => turn.outcome === null);
  if (open === undefined) return null;
  await endLeftTools(input, open.startSeq);
  const start = facts.find((fact) => fact.type === "turn_start" && fact.turn === open.id);
  const prompt = start?.type === "turn_start" ? start.prompt : undefined;
  const { turnNodes, upstream, spent, forgot, last, waiting } = await readOpenTurn(
    input.conversation,
    open.startSeq,
  );
  const nodes = turnNodes
    .messages({ model: null, stopReason: "interrupted" })
    .map((body) => Object.assign(body, { id: input.newId() }));
  const tip = last ?? prompt;
  const lastNode = nodes.at(-1)?.id ?? tip;
  const knowledge = forgot ? { held: null } : {};
  const node = lastNode === undefined ? {} : { node: lastNode };
  const carrier = upstream === null ? (last === null ? {} : node) : { upstream, ...node, ...knowledge };
  // A turn that waits for a person was left on purpose.
  const ending = waiting.length === 0 ? LEFT : NOT_ANSWERED;
  const end: EntryBody = {
    type: "turn_end",
    turn: open.id,
    outcome: "interrupted",
    class: ending.class,
    ...carrier,
  };
  const ends = spent.flatMap((usage) =>
    attemptEnd({ turn: open.id, class: "failed", upstream: null, model: null, usage }),
  );
  const answers = waiting.map((request): EntryBody => ({
    type: "permission_answer",
    request,
    outcome: "cancelled",
  }));
  const runs = runEnd(open.run, { outcome: "interrupted", ...ending });
  await input.owner.append([...(await inPlace(input, nodes, tip)), ...answers, ...ends, end, ...runs], {
    key: settleKey(open.id),
  });
  return open.id;
}

const LEFT = { class: "crashed", message: "The process running the turn exited before the turn ended" };
const NOT_ANSWERED = {
  class: "cancelled",
  message: "A new prompt ended the turn while it waited for an answer",
};

/** Under this key stands the end of a turn that was not ended by whoever had sent it. */
export function settleKey(turn: string): string {
  return `settle/${turn}`;
}

/**
 * The reply belongs under its prompt, or under what the turn said before it; someone who has moved on since finds the
 * leaf where they left it.
 */
export async function inPlace(
  input: Pick<SettleInput, "conversation">,
  nodes: readonly EntryBody[],
  tip: string | undefined,
): Promise<readonly EntryBody[]> {
  const { id } = input.conversation;
  const space = spaceOf(input.conversation);
  const { leaf } = await space.head(id);
  const [first, ...others] = nodes;
  if (first === undefined || tip === undefined) return nodes;
  // Who has only changed a setting has not moved on.
  const last = await readLastModelNode(space, id, leaf);
  if (last === tip || last === (await readModelNodeBeforeSeed(space, id, tip))) return nodes;
  return [{ ...first, parentId: tip }, ...others, { type: "leaf", target: leaf.id }];
}

/** What a turn left in the log before anybody ended it. */
interface OpenTurnRecord {
  /** What the last attempt streamed and no message says; an earlier one's text was superseded. */
  readonly turnNodes: TurnNodes;
  readonly upstream: string | null;
  /** What earlier ones used, where format 1 put it among the updates. */
  readonly spent: readonly Usage[];
  /** The agent continued in a new session. */
  readonly forgot: boolean;
  /** The last message the turn has written by itself. */
  readonly last: EntryId | null;
  /** The requests for a permission that nobody has answered. */
  readonly waiting: readonly string[];
}

const OPEN_TURN_TYPES = [
  "update",
  "attempt",
  "upstream_link",
  "message",
  "permission",
  "permission_answer",
] as const;

async function readOpenTurn(conversation: Conversation, startSeq: number): Promise<OpenTurnRecord> {
  const turn = {
    turnNodes: new TurnNodes(),
    upstream: null as string | null,
    spent: [] as Usage[],
    forgot: false,
    last: null as EntryId | null,
  };
  const waiting = new Set<string>();
  const onEntry = (entry: Entry): void => {
    if (entry.type === "upstream_link") {
      turn.upstream = entry.upstream;
      turn.forgot ||= entry.reason === "rolled_by_upstream";
    } else if (entry.type === "attempt")
      [turn.turnNodes, turn.upstream] = [new TurnNodes(), entry.upstream ?? null];
    else if (entry.type === "message") {
      turn.last = entry.id;
      // An answer that a step has written stands for what was streamed of it.
      if (entry.message.role === "assistant") turn.turnNodes = new TurnNodes();
    } else if (entry.type === "permission" && entry.request !== undefined) waiting.add(entry.request);
    else if (entry.type === "permission_answer") waiting.delete(entry.request);
    for (const event of eventsOf(entry)) {
      if (event.type === "usage") turn.spent.push(event.usage);
      else turn.turnNodes.add(event);
    }
  };
  await eachEntry(spaceOf(conversation), conversation.id, {
    types: OPEN_TURN_TYPES,
    after: startSeq,
    onEntry,
  });
  return { ...turn, waiting: [...waiting] };
}

function eventsOf(entry: Entry): readonly TurnEvent[] {
  return entry.type === "update" ? (recordedEvents(entry) ?? []) : [];
}
