/** Which agent a command line starts: a wrong guess would judge its words by another's habits. */
import { expect, test } from "vitest";
import { vendorOf } from "#vendors/known-vendors";

test.each([
  ["npx @agentclientprotocol/claude-agent-acp", "claude"],
  ["npx -y @agentclientprotocol/codex-acp@2.6.0", "codex"],
  ["node --no-warnings /opt/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js", "claude"],
  ["/usr/local/bin/opencode acp", "opencode"],
  ["gemini --acp", "gemini"],
  ["gemini.cmd --acp", "gemini"],
  ["opencode acp --model anthropic/claude-sonnet", "opencode"],
  ["goose acp --model claude-sonnet", "generic"],
  ["/home/claude/bin/my-agent", "generic"],
  ["node /home/gemini/agents/mine.js", "generic"],
] as const)("%s is %s", (line, name) => {
  expect(vendorOf("", line.split(" ")).name).toBe(name);
});

test("a name decides, whatever the command", () => {
  expect(vendorOf("Codex", ["claude"]).name).toBe("codex");
});
