import type { Golden } from "../golden.ts";
import { fixture, ID } from "../homes.ts";

export const CLAUDE_GOLDEN: Golden = {
  vendor: "claude",
  id: ID,
  file: [`projects/-home-user-project/${ID}.jsonl`, fixture("claude/turns.jsonl")],
  cwd: "/home/user/project",
  title: "A fake title",
  messages: 32,
  first: "user: hello there",
  last: "assistant: ANSWER to <after the compaction>",
};
