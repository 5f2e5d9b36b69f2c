import type { GoldenRecord } from "#testing/vendors/records-cases";
import { fixture } from "../homes.ts";

const ID = "01a1ddf7-f0af-7131-89ab-91fd1c8355f7";

export const CODEX_GOLDEN: GoldenRecord = {
  vendor: "codex",
  id: ID,
  file: [`sessions/2026/11/15/rollout-2026-11-15T06-49-36-${ID}.jsonl`, fixture("codex/turns.jsonl")],
  cwd: "/home/user/project",
  title: "hello there codex",
  messages: 22,
  first: "user: hello there codex",
  last: "assistant: ANSWER to <after compaction>",
};
