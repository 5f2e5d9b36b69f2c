import type { Summarise } from "#agent/compaction/summary-writer";
import type { ModelOutcome, ModelRequest } from "#agent/models/model";
import type { Conversation } from "#conversation/conversation";
import type { Entry, EntryBody } from "#log/entry";
import type { ContentBlock, Usage } from "#log/message";
import type { Ending } from "#turn/rules/ending";
import { assistant, result, user } from "./a-log.ts";

/** What a summary cost in tests. */
export const SUMMARY_USAGE: Usage = { inputTokens: 100, outputTokens: 10, costMicros: 5 };

export function answered(
  text: string,
  more: { finish?: "stop" | "length" | "filtered" | "paused" } = {},
): ModelOutcome {
  const content: readonly ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  const { finish = "stop" } = more;
  return { answer: { content, brokenCalls: [], finish, usage: SUMMARY_USAGE, warnings: [] }, ending: null };
}

export function failedCall(ending: Ending["class"], usage: Usage | null = SUMMARY_USAGE): ModelOutcome {
  return {
    answer: null,
    ending: { class: ending, message: `it is ${ending}`, resetAtMs: null },
    partial: [],
    usage,
  };
}

/** A model that answers by what it is asked, and keeps what that was. */
export function summaryModel(
  answer: (text: string, call: number) => ModelOutcome = (_, call) => answered(`## Goal\nsummary ${call}`),
): Summarise & { readonly asked: string[]; readonly requests: ModelRequest[] } {
  const asked: string[] = [];
  const requests: ModelRequest[] = [];
  const summarise = async (request: ModelRequest): Promise<ModelOutcome> => {
    const [block] = request.messages[0]?.content ?? [];
    const text = block?.type === "text" ? block.text : "";
    requests.push(request);
    return answer(text, asked.push(text));
  };
  return Object.assign(summarise, { asked, requests });
}

export const LONG: string = "It was said that the work goes on and nothing of it may be lost. ".repeat(60);
export const TALK: readonly EntryBody[] = [
  user(`first ${LONG}`, "u1"),
  assistant(`answer one ${LONG}`, "a1"),
  user(`second ${LONG}`, "u2"),
  assistant(`answer two ${LONG}`, "a2"),
  user("third", "u3"),
];
export const CALLS: readonly EntryBody[] = [
  user(`begin ${LONG}`, "u1"),
  assistant("done", "a1"),
  user("change the file", "u2"),
  {
    type: "message",
    id: "a2",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "SECRET THOUGHT" },
        { type: "text", text: "Looking." },
        { type: "toolCall", id: "c1", name: "read", input: { path: "src/a.ts" } },
        { type: "toolCall", id: "c2", name: "edit", input: { path: "src/b.ts", old: "x", new: "y" } },
      ],
    },
  },
  result("c1", `START ${LONG.repeat(2)} END`),
  result("c2", "edited"),
  assistant(`and now ${LONG}`, "a3"),
];
export const base: { window: number; keep: number; model: string } = {
  window: 200_000,
  keep: 10,
  model: "sim/summary",
};

export async function logOf(conversation: Conversation): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { seq, type, payload } of conversation.log()) lines.push(`${seq} ${type} ${payload}`);
  return lines;
}

export async function compactionsOf(conversation: Conversation): Promise<readonly Entry[]> {
  return (await conversation.branch()).filter((entry) => entry.type === "compaction");
}
