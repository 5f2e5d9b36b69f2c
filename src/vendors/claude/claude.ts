import { type Fields, fieldsOf, listIn, textIn, wordsIn } from "#log/json/json-fields";
import {
  type FailureSigns,
  PLAIN_DIALECT,
  type ProgramMessages,
  resumesBy,
  type Vendor,
} from "#vendors/vendor";
import { neverRan } from "./call-outcome.ts";
import { claudeStore } from "#vendors/claude/records/claude-store";
import { CLAUDE_ENDINGS, CLAUDE_EXAMPLES } from "./claude-endings.ts";
import { transcriptReader } from "#vendors/claude/records/transcript-reader";
import type { TurnEvent } from "#turn/rules/turn-event";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const UPDATE = "npm install -g @agentclientprotocol/claude-agent-acp@latest";

/** Which messages Claude keeps, when it waits, when a limit ends: its adapter says none of it in the protocol's words. */
const CLAUDE_MESSAGES: ProgramMessages = {
  method: "_claude/sdkMessage",
  ask: {
    path: ["_meta", "claudeCode", "emitRawSDKMessages"],
    text: JSON.stringify([
      { type: "assistant" },
      { type: "system", subtype: "api_retry" },
      { type: "rate_limit_event" },
    ]),
  },
  meaning: (message) => {
    const raw = fieldsOf(message);
    if (raw["type"] === "rate_limit_event")
      return { event: null, signs: rejectedLimit(fieldsOf(raw["rate_limit_info"])) };
    if (raw["type"] === "assistant" && (raw["parent_tool_use_id"] ?? null) === null)
      return saidBy(fieldsOf(raw["message"]));
    if (raw["type"] === "system" && raw["subtype"] === "api_retry") return { event: waitingEvent(raw) };
    return { event: null };
  },
};

/** A limit is told of long before it is hit. */
function rejectedLimit(limit: Fields): FailureSigns {
  return limit["status"] === "rejected" ? { limit } : {};
}

function waitingEvent(raw: Fields): TurnEvent {
  const { attempt, max_retries: most, error_status: status, error, retry_delay_ms: delay } = raw;
  const why = typeof status === "number" ? `HTTP ${status}` : wordsIn(error);
  const text = `The model's service refused (${why}); attempt ${Number(attempt)} of ${Number(most)} failed`;
  return { type: "waiting", text, delayMs: typeof delay === "number" ? delay : 0 };
}

/** One comes for each finished part of a message; those of a subagent are not the conversation's. */
function saidBy(message: Fields): ReturnType<ProgramMessages["meaning"]> {
  const [id, model] = [wordsIn(message["id"]), wordsIn(message["model"])];
  if (id === "" || model === "<synthetic>") return { event: null };
  const text = listIn(message["content"] ?? null)
    .filter((block) => block["type"] === "text")
    .map((block) => wordsIn(block["text"]))
    .join("");
  return { event: { type: "final_text", message: id, text }, ...(model === "" ? {} : { model }) };
}

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
