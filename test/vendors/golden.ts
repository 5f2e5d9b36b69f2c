/** Files that agents themselves wrote, one for each vendor whose records are read. */
import type { GoldenRecord } from "#testing/vendors/records-cases";
import { CLAUDE_GOLDEN } from "./claude/claude-golden.ts";
import { CODEX_GOLDEN } from "./codex/codex-golden.ts";

export const GOLDEN: readonly GoldenRecord[] = [CLAUDE_GOLDEN, CODEX_GOLDEN];
