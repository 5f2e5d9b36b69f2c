import { PLAIN_DIALECT, type Vendor } from "#vendors/vendor";
import { GEMINI_ENDINGS, GEMINI_EXAMPLES } from "./gemini-endings.ts";

export const GEMINI: Vendor = {
  name: "gemini",
  endings: GEMINI_ENDINGS,
  examples: GEMINI_EXAMPLES,
  dialect: {
    ...PLAIN_DIALECT,
    windowTokens: 1_000_000,
    // It names a record by the minute it was begun in, and loading begins one: in the same minute it overwrites what it
    // is about to read.
    reloadAfterMs: 61_000,
    replaysLate: true,
  },
  adapters: [{ name: "gemini-cli", oldest: "0.45.0", update: "npm install -g @google/gemini-cli@latest" }],
  records: null,
};
