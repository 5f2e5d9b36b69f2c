import { readWaiting } from "#agent/read-waiting";
import type { Conversation } from "#conversation/conversation";
import { readLastTurn } from "#conversation/list-conversations";
import { decodeEntry } from "#log/codec";
import { effectsOf } from "#log/projections/effects";
import { isWorkedOn } from "#transfer/listed/listed-state";
import { jsonPreview } from "#transfer/shown/entry-preview";
import { clockOf } from "#edges/cli/view/time";

const CALL_CHARS = 120;

/** What a person who comes back should know of the last turn before they say anything; null when it ended well. */
export async function lastTurnText(conversation: Conversation): Promise<string | null> {
  const last = await readLastTurn(conversation.space, conversation.id);
  if (last === null) return null;
  if (last.state === "ended") {
    if (last.outcome === "completed") return null;
    const until = last.resetAt === null ? "" : ` until ${clockOf(last.resetAt)}`;
    const how =
      last.outcome === "interrupted" ? "was stopped" : until === "" ? "failed" : `is parked${until}`;
    return `The last turn ${how}; /continue goes on with it.`;
  }
  if (await isWorkedOn((await conversation.head()).lease))
    return "The last turn still runs in another process; what you say waits for its end.";
  const unknown = await unknownText(conversation);
  const [first] = await readWaiting(conversation);
  if (first !== undefined)
    return `The last turn waits for your answer about ${callText(first.tool, first.input)}; /continue asks you again.${unknown}`;
  return `The last turn was cut off before its end; /continue goes on with it.${unknown}`;
}

/** What a new prompt does to a turn that somebody left; null where there is none. */
export async function leftText(conversation: Conversation): Promise<string | null> {
  const last = await readLastTurn(conversation.space, conversation.id);
  if (last?.state !== "open") return null;
  const waiting = await readWaiting(conversation);
  const dropped = waiting.map(
    ({ tool, input }) => `The question about ${callText(tool, input)} is dropped; it was not run.`,
  );
  const text = `${dropped.join(" ")}${await unknownText(conversation)}`.trim();
  return text === "" ? null : text;
}

/** Calls of the last turn that were begun and have no outcome: a person has to look. */
async function unknownText(conversation: Conversation): Promise<string> {
  const { space, id } = conversation;
  const [start] = await space.read({ conversation: id, limit: 1, newestFirst: true, types: ["turn_start"] });
  if (start === undefined) return "";
  const types = ["message", "tool_intent"] as const;
  const stored = await space.read({ conversation: id, after: start.seq, limit: 100_000, types });
  const entries = stored.map((entry) => decodeEntry(entry));
  const inputs = new Map(
    entries.flatMap((entry) => (entry.type === "tool_intent" ? [[entry.id, entry.input] as const] : [])),
  );
  const begun = effectsOf(entries).filter(({ state, intent }) => state === "unknown" && intent !== null);
  return begun
    .map(({ name, intent }) =>
      intent === null
        ? ""
        : ` ${callText(name, inputs.get(intent))} was begun, and nobody knows how it ended: look before it is done again.`,
    )
    .join("");
}

function callText(tool: string, input: unknown): string {
  const text = `${tool} ${jsonPreview(input)}`.trim();
  return text.length > CALL_CHARS ? `${text.slice(0, CALL_CHARS)}…` : text;
}
