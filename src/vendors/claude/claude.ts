import { fieldsOf, textIn } from "#log/json/json-fields";
import { PLAIN_DIALECT, resumesBy, type Vendor } from "#vendors/vendor";
import { neverRan } from "./call-outcome.ts";
import { claudeStore } from "./records/claude-store.ts";
import { CLAUDE_ENDINGS, CLAUDE_EXAMPLES } from "./claude-endings.ts";
import { CLAUDE_MESSAGES, rejectedLimit } from "./program-messages.ts";
import { transcriptReader } from "./records/transcript-reader.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const UPDATE = "npm install -g @agentclientprotocol/claude-agent-acp@latest";

/** Claude Code behind claude-agent-acp. */
export const CLAUDE: Vendor = {
  name: "claude",
  endings: CLAUDE_ENDINGS,
  examples: CLAUDE_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    remarksLackId: true,
    remarkId: UUID,
    programMessages: CLAUDE_MESSAGES,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    takesCommands: true,
    clears: ["clear", "new", "reset"],
    failureIn: (update) => rejectedLimit(fieldsOf(fieldsOf(update["_meta"])["_claude/rateLimit"])),
    toolName: (meta) => textIn(fieldsOf(meta["claudeCode"])["toolName"]),
    neverRan: (update) => neverRan(update, fieldsOf(fieldsOf(update["_meta"])["claudeCode"])),
    // Towards hosts that know no compactions, one is shown as a call of this tool.
    compactionTools: ["compact"],
    nestingVariables: ["CLAUDECODE"],
  },
  adapters: [
    {
      name: "@agentclientprotocol/claude-agent-acp",
      oldest: "0.25.0",
      messageIds: "0.42.0",
      update: UPDATE,
    },
    { name: "@zed-industries/claude-agent-acp", oldest: null, update: UPDATE },
    { name: "@zed-industries/claude-code-acp", oldest: null, update: UPDATE },
  ],
  records: {
    folder: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    fileName: "a transcript of Claude Code",
    open: (configDir) => claudeStore({ configDir }),
    // Any of its records may come first, and each names its type and its session.
    isRecord: (line) => textIn(line["type"]) !== null && textIn(line["sessionId"]) !== null,
    reader: transcriptReader,
  },
  resumeCommand: resumesBy("claude", "--resume"),
};
