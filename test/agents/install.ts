/** The real agents, in pinned versions, installed when they are first needed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsed, textAt } from "./json.ts";

export type AgentName = "claude" | "codex" | "opencode" | "gemini";

/** A command line: the program and what it is given. */
export type CommandLine = readonly [string, ...string[]];

/** Folders in `node_modules`; each older version of an adapter has a separate folder, as an npm alias. */
const PINNED: Readonly<Record<string, string>> = {
  "@agentclientprotocol/claude-agent-acp": "0.99.0",
  "@agentclientprotocol/codex-acp": "2.6.0",
  "@agentclientprotocol/sdk": "2.4.0",
  "@google/gemini-cli": "0.61.0",
  acpx: "0.19.1",
  "claude-agent-acp-0.24": "npm:@agentclientprotocol/claude-agent-acp@0.24.2",
  "claude-agent-acp-0.25": "npm:@agentclientprotocol/claude-agent-acp@0.25.3",
  "opencode-ai": "1.18.33",
  zod: "4.6.7",
};

const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "holdfast-agents");

/** The folder that holds `node_modules` with every agent; installs what is missing unless the folder was given. */
export function agentsFolder(): string {
  const given = process.env["HOLDFAST_AGENTS"];
  const folder = given ?? cache;
  const missing = Object.entries(PINNED).filter(([name, pin]) => installed(folder, name) !== versionIn(pin));
  if (missing.length === 0) return folder;
  const wanted = missing.map(([name, pin]) => `${name}@${pin}`);
  if (given !== undefined) throw new Error(`HOLDFAST_AGENTS lacks ${wanted.join(", ")}`);
  install(folder, wanted);
  return folder;
}

function installed(folder: string, name: string): string {
  const file = join(folder, "node_modules", name, "package.json");
  return existsSync(file) ? textAt(parsed(readFileSync(file, "utf8")), "version") : "";
}

/** A pin is a version, or the package and the version that an alias installs. */
function versionIn(pin: string): string {
  return pin.slice(pin.lastIndexOf("@") + 1);
}

/** Without install scripts: every program these packages need lies in a package of its own for the platform. */
function install(folder: string, wanted: readonly string[]): void {
  process.stderr.write(`installing ${wanted.join(" ")} (about 1.5 GB, once)\n`);
  mkdirSync(folder, { recursive: true });
  // A folder without a package.json is not a project: npm would install into the checkout around it.
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ name: "agents", private: true }));
  execFileSync(
    "npm",
    ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", ...wanted],
    { cwd: folder, stdio: ["ignore", 2, 2] },
  );
}

/** The command that starts the agent with ACP on its standard input and output; `alias` names an older adapter. */
export function commandOf(agent: AgentName, folder: string, alias?: string): CommandLine {
  const inside = (...path: readonly string[]): string => join(folder, "node_modules", ...path);
  switch (agent) {
    case "claude":
      return [process.execPath, inside(alias ?? "@agentclientprotocol/claude-agent-acp", "dist", "index.js")];
    case "codex":
      return [process.execPath, inside(alias ?? "@agentclientprotocol/codex-acp", "dist", "index.js")];
    case "gemini":
      return [process.execPath, inside("@google", "gemini-cli", "bundle", "gemini.js"), "--acp"];
    case "opencode":
      return [inside(`opencode-${process.platform}-${process.arch}`, "bin", "opencode"), "acp"];
  }
}
