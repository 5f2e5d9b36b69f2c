import type { GoldenRecord } from "#testing/vendors/records-cases";
import { fixture, ID } from "../homes.ts";

export const CLAUDE_GOLDEN: GoldenRecord = {
  vendor: "claude",
  id: ID,
  file: [`projects/-home-user-project/${ID}.jsonl`, fixture("claude/turns.jsonl")],
  cwd: "/home/user/project",
  title: "A fake title",
  messages: 32,
  first: "user: hello there",
  last: "assistant: ANSWER to <after the compaction>",
};
