/** The real agents, in pinned versions, installed when they are first needed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsed, textAt } from "./json.ts";

export type AgentName = "claude" | "codex" | "opencode" | "gemini";

/** A command line: the program and what it is given. */
export type CommandLine = readonly [string, ...string[]];

const PINNED: Readonly<Record<string, string>> = {
  "@agentclientprotocol/claude-agent-acp": "0.99.0",
  "@agentclientprotocol/codex-acp": "2.6.0",
  "@agentclientprotocol/sdk": "2.4.0",
  "@google/gemini-cli": "0.61.0",
  acpx: "0.19.1",
  "opencode-ai": "1.18.33",
  zod: "4.6.7",
};

const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "holdfast-agents");

/** The folder that holds `node_modules` with every agent; installs what is missing unless the folder was given. */
export function agentsFolder(): string {
  const given = process.env["HOLDFAST_AGENTS"];
  const folder = given ?? cache;
  const missing = Object.entries(PINNED).filter(([name, version]) => installed(folder, name) !== version);
  if (missing.length === 0) return folder;
  const wanted = missing.map(([name, version]) => `${name}@${version}`);
  if (given !== undefined) throw new Error(`HOLDFAST_AGENTS lacks ${wanted.join(", ")}`);
  install(folder, wanted);
  return folder;
}

function installed(folder: string, name: string): string {
  const file = join(folder, "node_modules", name, "package.json");
  return existsSync(file) ? textAt(parsed(readFileSync(file, "utf8")), "version") : "";
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

/** What to type to have the agent speak ACP on its standard input and output. */
export function commandOf(agent: AgentName, folder: string): CommandLine {
  const inside = (...path: readonly string[]): string => join(folder, "node_modules", ...path);
  switch (agent) {
    case "claude":
      return [process.execPath, inside("@agentclientprotocol", "claude-agent-acp", "dist", "index.js")];
    case "codex":
      return [process.execPath, inside("@agentclientprotocol", "codex-acp", "dist", "index.js")];
    case "gemini":
      return [process.execPath, inside("@google", "gemini-cli", "bundle", "gemini.js"), "--acp"];
    case "opencode":
      return [inside(`opencode-${process.platform}-${process.arch}`, "bin", "opencode"), "acp"];
  }
}
