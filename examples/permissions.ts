/* oxlint-disable no-console */
import { decide, subjectOf, type PermissionPolicy } from "../src/agent/index.ts";

const policy: PermissionPolicy = {
  rules: [
    { tool: "read", inside: true, decision: "allow" },
    { tool: "*", pattern: "**/.env", decision: "deny" },
    { tool: "shell", pattern: "git *", decision: "allow" },
  ],
  otherwise: "ask",
};
const subject = await subjectOf("read", { path: "src/index.ts" }, process.cwd());
console.log(decide(policy, { tool: "read", subject }));
