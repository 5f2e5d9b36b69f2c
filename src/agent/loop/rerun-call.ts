import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import type { ToolCall, ToolResultMessage } from "#log/message";
import { callsIn } from "./answer-entries.ts";
import type { AgentWork, LoopTurn } from "./loop-turn.ts";
import { runCalls } from "./run-calls.ts";

/** A call that is in the log: the answer it stands in, and its id there. */
export interface PastCall {
  readonly entry: string;
  readonly call: string;
}

/** Makes the call again, as a new call; null if its outcome is unknown. */
export async function rerunCall(
  work: AgentWork,
  past: PastCall,
  turnOf: (turnId: string, prompt: string) => LoopTurn,
): Promise<ToolResultMessage | null> {
  const before = await readCall(work, past);
  const { newId } = turnOf("", past.entry).options;
  const [turnId, id] = [newId(), newId()];
  const call: ToolCall = { type: "toolCall", id, name: before.name, input: before.input };
  const message: EntryBody = {
    type: "message",
    message: { role: "assistant", content: [call], stopReason: "toolUse", details: { rerunOf: { ...past } } },
  };
  const { fromSeq } = await work.owner.append([{ type: "turn_start", turn: turnId }, message]);
  const turn = turnOf(turnId, past.entry);
  const { permission } = turn.options;
  // The user who reruns the call has thereby allowed it.
  const allowed: LoopTurn = {
    ...turn,
    options: {
      ...turn.options,
      permission: async (request) => {
        const decision = typeof permission === "function" ? await permission(request) : "allow";
        return decision === "deny" ? "deny" : "allow";
      },
    },
  };
  const { results } = await runCalls(allowed, {
    calls: [call],
    place: { turn: turnId, step: 0 },
    seq: fromSeq,
  });
  const outcome = work.cancelled.aborted ? "interrupted" : "completed";
  const endingClass = outcome === "completed" ? "completed" : "cancelled";
  await work.owner.append({ type: "turn_end", turn: turnId, outcome, class: endingClass });
  return results[0] ?? null;
}

async function readCall({ conversation }: AgentWork, { entry, call }: PastCall): Promise<ToolCall> {
  const answer = await conversation.entry(entry);
  const content =
    answer.type === "message" && answer.message.role === "assistant" ? answer.message.content : [];
  const past = callsIn(content).find(({ id }) => id === call);
  if (past === undefined)
    throw new LogError("invalid_request", `Entry ${entry} has no tool call ${call}`, { entry, call });
  return past;
}
