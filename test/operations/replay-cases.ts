import type { Case } from "./case.ts";
import { REPLAY } from "./seeded-space.ts";

const MISSING = "entry_not_found";
const INVALID = "invalid_request";

/** Replays; the one that the space has was begun under the key `k`. */
export const REPLAY_CASES: readonly Case[] = [
  { operation: "planReplay", name: "offers a branch", input: { conversation: "a" } },
  {
    operation: "planReplay",
    name: "refuses an entry of a run",
    input: { run: "r1", at: "mail" },
    fails: INVALID,
  },
  {
    operation: "startReplay",
    name: "is once under its key",
    input: { conversation: "a", models: ["sim"] },
    key: "k",
  },
  {
    operation: "startReplay",
    name: "refuses live tools that nobody confirmed",
    input: { conversation: "a", tools: "live" },
    fails: INVALID,
  },
  {
    operation: "startReplay",
    name: "knows no such tools",
    input: { conversation: "a", tools: "wet-run" },
    argv: ["replay", "a", "--tools", "wet-run"],
    fails: INVALID,
  },
  { operation: "listReplays", name: "lists those of a conversation", input: { conversation: "a" } },
  {
    operation: "listReplays",
    name: "refuses more than a page",
    input: { limit: 501 },
    fails: INVALID,
  },
  { operation: "getReplay", name: "shows one", input: { replay: REPLAY } },
  { operation: "getReplay", name: "finds no such replay", input: { replay: "a" }, fails: MISSING },
  { operation: "stopReplay", name: "stops what has ended", input: { replay: REPLAY } },
  { operation: "stopReplay", name: "finds no such replay", input: { replay: "none" }, fails: MISSING },
];
