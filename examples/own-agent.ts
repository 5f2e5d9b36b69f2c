/* oxlint-disable no-console */
import { COMMON_ENDINGS } from "../src/edges/acp/index.ts";
import { PLAIN_DIALECT, type Vendor } from "../src/edges/acp/index.ts";
import { vendorContract } from "../src/testing/index.ts";

export const SCRIBE: Vendor = {
  name: "scribe",
  endings: [
    { on: "text", like: /the well is dry until/i, class: "limit" },
    { on: "kind", is: ["no_such_notebook"], class: "lost" },
    ...COMMON_ENDINGS,
  ],
  examples: [
    ["limit", "The well is dry until tomorrow"],
    ["lost", "Internal error", -32603, { kind: "no_such_notebook" }],
  ],
  dialect: { ...PLAIN_DIALECT, windowTokens: 32_000, clears: ["forget"] },
  records: null,
};

for (const promise of vendorContract) {
  promise.run(SCRIBE);
  console.log(`${SCRIBE.name} ${promise.name}`);
}
