import { fieldsOf } from "#log/json/json-fields";
import { PLAIN_DIALECT, resumesBy, type Vendor } from "#vendors/vendor";
import { codexStore } from "./records/codex-store.ts";
import { CODEX_ENDINGS, CODEX_EXAMPLES } from "./codex-endings.ts";
import { rolloutReader } from "./records/rollout.ts";

/** Codex behind codex-acp. */
export const CODEX: Vendor = {
  name: "codex",
  endings: CODEX_ENDINGS,
  examples: CODEX_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    remarksLackId: true,
    forks: true,
    windowTokens: 200_000,
    keepsPrompt: true,
    // A turn that failed is answered like one that ended well; only the state of its thread tells.
    failureIn: (update) => {
      const { error, threadStatus } = fieldsOf(fieldsOf(update["_meta"])["codex"]);
      const status = fieldsOf(threadStatus)["type"];
      return {
        ...(error === undefined ? {} : { error: fieldsOf(error) }),
        ...(status === undefined ? {} : { failed: status === "systemError" }),
      };
    },
    // Towards hosts that know no compactions, one is shown as a call with this title.
    compactionTools: ["Compact conversation"],
    reviewCalls: /^guardian_assessment:/,
    inUseReason: "thread_active_writer",
  },
  adapters: [
    {
      name: "@agentclientprotocol/codex-acp",
      oldest: "2.0.0",
      messageIds: "1.1.0",
      update: "npm install -g @agentclientprotocol/codex-acp@latest",
    },
  ],
  records: {
    folder: ".codex",
    variable: "CODEX_HOME",
    fileName: "a rollout of Codex",
    open: (home) => codexStore({ home }),
    isRecord: (line) => line["type"] === "session_meta" && "payload" in line,
    reader: rolloutReader,
  },
  resumeCommand: resumesBy("codex", "resume"),
};
