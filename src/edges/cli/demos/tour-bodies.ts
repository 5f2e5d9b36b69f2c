import type { EntryBody } from "#log/entry";

function said(id: string, role: "user" | "assistant", text: string): EntryBody {
  const content = [{ type: "text", text }] as const;
  return {
    type: "message",
    id,
    message: role === "user" ? { role, content } : { role, content, model: "example-1" },
  };
}

/** A prompt, a tool call with its result, and the answer. */
export const FIRST_TURN: readonly EntryBody[] = [
  said("u1", "user", "A test fails. Can you have a look?"),
  {
    type: "message",
    id: "a1",
    message: {
      role: "assistant",
      model: "example-1",
      stopReason: "toolUse",
      usage: { inputTokens: 120, outputTokens: 18 },
      content: [
        { type: "text", text: "I will run the tests." },
        { type: "toolCall", id: "call-1", name: "bash", input: { command: "npm test" } },
      ],
    },
  },
  {
    type: "message",
    id: "r1",
    message: {
      role: "toolResult",
      toolCallId: "call-1",
      toolName: "bash",
      isError: true,
      content: [{ type: "text", text: "parser.test: expected 3, got 2" }],
    },
  },
  said("a2", "assistant", "The parser drops the last line. Shall I change the parser or the test?"),
];

export const ONE_WAY: readonly EntryBody[] = [
  said("u2", "user", "Change the test."),
  said("a3", "assistant", "Done: the test now expects 2."),
];

export const OTHER_WAY: readonly EntryBody[] = [
  said("u3", "user", "No, the parser is wrong. Fix that."),
  said("a4", "assistant", "Fixed: the parser keeps the last line. All tests pass."),
  { type: "model_change", model: "example-2" },
];

export const COMPACTION: readonly EntryBody[] = [
  {
    type: "compaction",
    id: "s1",
    summary: "A parser test failed because the parser dropped the last line.",
    firstKeptEntryId: "u3",
  },
];
