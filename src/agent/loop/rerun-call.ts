import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import type { ToolCall, ToolResultMessage } from "#log/message";
import { callsIn } from "#agent/rules/answer-entries";
import type { AgentWork, LoopTurn } from "./loop-turn.ts";
import { runCalls } from "./run-calls.ts";

/** A call that is in the log: the answer it stands in, and its id there. */
export interface PastCall {
  readonly entry: string;
  readonly call: string;
}

/** Makes it once more, as a call of its own; null when nobody knows how it ended. */
export async function rerunCall(
  work: AgentWork,
  past: PastCall,
  turnOf: (turn: string, prompt: string) => LoopTurn,
): Promise<ToolResultMessage | null> {
  const before = await readCall(work, past);
  const { newId } = turnOf("", past.entry).options;
  const [turn, id] = [newId(), newId()];
  const call: ToolCall = { type: "toolCall", id, name: before.name, input: before.input };
  const message: EntryBody = {
    type: "message",
    message: { role: "assistant", content: [call], stopReason: "toolUse", details: { rerunOf: { ...past } } },
  };
  const { fromSeq } = await work.owner.append([{ type: "turn_start", turn }, message]);
  const at = turnOf(turn, past.entry);
  const { permission } = at.options;
  // Whoever asks for it has answered what would be asked.
  const allowed: LoopTurn = {
    ...at,
    options: {
      ...at.options,
      permission: async (asked) => {
        const decision = typeof permission === "function" ? await permission(asked) : "allow";
        return decision === "deny" ? "deny" : "allow";
      },
    },
  };
  const { results } = await runCalls(allowed, { calls: [call], place: { turn, step: 0 }, seq: fromSeq });
  const outcome = work.cancelled.aborted ? "interrupted" : "completed";
  const known = outcome === "completed" ? "completed" : "cancelled";
  await work.owner.append({ type: "turn_end", turn, outcome, class: known });
  return results[0] ?? null;
}

async function readCall({ conversation }: AgentWork, { entry, call }: PastCall): Promise<ToolCall> {
  const found = await conversation.entry(entry);
  const said = found.type === "message" && found.message.role === "assistant" ? found.message.content : [];
  const past = callsIn(said).find(({ id }) => id === call);
  if (past === undefined)
    throw new LogError("invalid_request", `${entry} has no call ${call}; nothing was run`, { entry, call });
  return past;
}
