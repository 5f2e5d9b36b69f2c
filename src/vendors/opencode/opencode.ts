import { PLAIN_DIALECT, resumesBy, type Vendor } from "#vendors/vendor";
import { OPENCODE_ENDINGS, OPENCODE_EXAMPLES } from "./opencode-endings.ts";

export const OPENCODE: Vendor = {
  name: "opencode",
  endings: OPENCODE_ENDINGS,
  examples: OPENCODE_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    forks: true,
    windowTokens: 128_000,
    keepsPrompt: true,
    takesCommands: true,
  },
  // Older versions end a turn before they have sent all of its answer.
  adapters: [{ name: "OpenCode", oldest: "1.17.0", update: "npm install -g opencode-ai@latest" }],
  records: null,
  resumeCommand: resumesBy("opencode", "--session"),
};
