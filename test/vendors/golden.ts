/** Files that an agent itself wrote, and what they hold: the part of a vendor's test that is data. */
import { CLAUDE_GOLDEN } from "./claude/claude-golden.ts";
import { CODEX_GOLDEN } from "./codex/codex-golden.ts";

export interface Golden {
  /** The vendor's name. */
  readonly vendor: string;
  /** The session, as its agent names it. */
  readonly id: string;
  /** Its file: the path below the records' folder, and the text. */
  readonly file: readonly [path: string, text: string];
  readonly cwd: string;
  readonly title: string;
  /** How many messages it holds, and what the first and the last of them say. */
  readonly messages: number;
  readonly first: string;
  readonly last: string;
}

export const GOLDEN: readonly Golden[] = [CLAUDE_GOLDEN, CODEX_GOLDEN];
