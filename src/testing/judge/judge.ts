import { isDeepStrictEqual } from "node:util";
import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { ASSISTANT_FIRST, openedByUser } from "#log/projections/pairs";
import { judgeContext } from "./context-judge.ts";
import { LogJudge, type Witness } from "./log-judge.ts";

/** What a whole log breaks of the rules, in words; empty when it breaks none. */
export function judgeLog(entries: Iterable<Entry>, witness: Witness = {}): readonly string[] {
  const judge = new LogJudge(witness);
  for (const entry of entries) judge.add(entry);
  return judge.violations();
}

/**
 * The same for a conversation as it is now: its log, its chain and what its model would be sent. A judge that is kept
 * is given only what is new, so a host can be judged after every step.
 */
export async function judgeConversation(
  conversation: Conversation,
  judge: LogJudge = new LogJudge(),
): Promise<readonly string[]> {
  for await (const stored of conversation.log({ after: judge.seq })) judge.add(decodeEntry(stored));
  const chain = new Set((await conversation.chain()).map(({ id }) => id));
  const lost = judge.sessions.filter((session) => !chain.has(session));
  const { messages } = await conversation.context();
  const { headSeq, segments, summary } = await conversation.head();
  // What was written since was not judged; a log that was never counted has nothing to be compared.
  const comparable = headSeq === judge.seq && summary !== null;
  const miscounted = comparable && !isDeepStrictEqual(summary, judge.summary(segments));
  return [
    ...judge.violations(),
    ...lost.map((session) => `${session} is not in the chain any more`),
    ...(miscounted ? ["what the list shows is not what the log says"] : []),
    ...judgeContext(openedByUser(messages, { ...ASSISTANT_FIRST, entryId: null })),
  ];
}

type Node = Entry & { readonly hidden: boolean };

/**
 * Whether an agent must remember a text when a prompt is sent, told from the branch up to that prompt alone: `known`, it
 * is within the messages that every agent is told (`window` of them); `gone`, no agent may know it; `old`, one may or may not.
 */
export function recallOf(
  branch: readonly Node[],
  question: { readonly fact: string; readonly window: number },
): "known" | "gone" | "old" {
  const reset = branch.findLastIndex((node) => node.type === "reset");
  const visible = branch.slice(reset + 1).filter((node) => !node.hidden && node.type === "message");
  const holds = (node: Node): boolean => node.payload.includes(question.fact);
  if (visible.slice(0, -1).filter(isText).slice(-question.window).some(holds)) return "known";
  return visible.some(holds) ? "old" : "gone";
}

function isText(node: Node): boolean {
  if (node.type !== "message" || node.message.role === "toolResult") return false;
  const { message } = node;
  const cutOff = message.role === "assistant" && ["interrupted", "failed"].includes(message.stopReason ?? "");
  return !cutOff && message.content.some((block) => block.type === "text" && block.text.trim() !== "");
}
