import type { Holdfast } from "#conversation/holdfast";
import { readLastTurn } from "#conversation/list-conversations";
import { isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { LeaseView } from "#log/lineage/head";
import { isHeld } from "#log/plans/lease";
import type { LastTurn } from "#log/summary";
import type { ConversationRow } from "#store/requests";
import { readWaiting } from "#agent/pending-permissions";
import { isDeadProcess } from "#turn/running-process";

/** How a turn ended. `limited`: its rate limit still applies; `limit_over`: it has passed. */
type EndedTurnState = "quiet" | "stopped" | "failed" | "limited" | "limit_over";

function endedTurnState(last: Extract<LastTurn, { state: "ended" }> | null, nowMs: number): EndedTurnState {
  if (last === null || last.outcome === "completed") return "quiet";
  if (last.resetAt !== null) return Date.parse(last.resetAt) > nowMs ? "limited" : "limit_over";
  return last.outcome === "interrupted" ? "stopped" : "failed";
}

/**
 * How a conversation of a list stands. `cut_off`: a turn never ended, and nobody carries it. `gone`: it was erased while the list was read.
 */
export type ConversationState =
  | EndedTurnState
  | "working"
  | "waiting"
  | "cut_off"
  | "damaged"
  | "newer_format"
  | "gone";

/** Derives the state of a row. Only for an open turn does it read the lease and pending permission requests. */
export async function readState(
  holdfast: Holdfast,
  row: ConversationRow,
  nowMs: number,
): Promise<ConversationState> {
  const { conversation, summary } = row;
  try {
    if (row.damage !== null) {
      await holdfast.conversation(conversation);
      return "damaged";
    }
    const last = summary === null ? await readLastTurn(holdfast.handle(conversation)) : summary.turn;
    if (last?.state !== "open") return endedTurnState(last, nowMs);
    if ((await readWaiting(holdfast.handle(conversation))).length > 0) return "waiting";
    const { lease } = await holdfast.handle(conversation).head();
    return (await isWorkedOn(lease)) ? "working" : "cut_off";
  } catch (error) {
    if (!isLogError(error)) throw error;
    if (error.code === "conversation_not_found") return "gone";
    return error.code === "unsupported_version" ? "newer_format" : "damaged";
  }
}

/** Whether a process works on a conversation. The lease of a dead process on this machine does not count. */
export async function isWorkedOn(lease: LeaseView | null): Promise<boolean> {
  return isHeld(lease) && !(await isDeadProcess(lease.writer));
}

const LATE_MS = 5_000; // a renewal may be late

/** Whether a turn is open and no process runs it: its process died, or its lease lapsed. One that waits for a person is not abandoned. */
export async function isAbandoned(
  holdfast: Holdfast,
  turn: { readonly conversation: ConversationId; readonly turn: string },
): Promise<boolean> {
  const conversation = holdfast.handle(turn.conversation);
  const open = await conversation.openTurn();
  if (open?.turn !== turn.turn) return false;
  const { lease } = open;
  if (isHeld(lease, LATE_MS) && !(await isDeadProcess(lease.writer))) return false;
  return (await readWaiting(conversation)).length === 0;
}
