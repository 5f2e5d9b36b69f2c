import { memoryCases } from "../agent/memory/memory-cases.ts";
import { branchDiffCases } from "../conversation/branch-diff-cases.ts";
import { conversationCases } from "../conversation/conversation-cases.ts";
import { keyCases } from "../conversation/key-cases.ts";
import { forkRunCases } from "../conversation/fork-run-cases.ts";
import { hydrateCases } from "../conversation/hydrate-cases.ts";
import { runsAlongCases } from "../conversation/runs-along-cases.ts";
import type { NamedSubject } from "../support/subjects.ts";
import { runRowCases } from "./run-row-cases.ts";

/** Whatever reads logs reads them alike in every store. */
export const readerCases: readonly (readonly [string, (subject: NamedSubject) => void])[] = [
  ["conversations", conversationCases],
  ["keys", keyCases],
  ["branches side by side", branchDiffCases],
  ["the rows of runs", runRowCases],
  ["the runs that led to a conversation", runsAlongCases],
  ["hydrate", hydrateCases],
  ["a fork from a run", forkRunCases],
  ["memory", memoryCases],
];
