/** A home folder per agent: its settings, an environment with nothing of ours in it, a project to work in. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentName } from "./install.ts";
import { anthropic } from "./wire-anthropic.ts";
import { gemini } from "./wire-gemini.ts";
import { responses } from "./wire-responses.ts";
import type { Wire } from "./wire.ts";

export interface AgentHome extends Disposable {
  readonly path: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** Makes the sessions that are there look older than a minute. */
  age(): void;
}

export const WIRES: Readonly<Record<AgentName, Wire>> = {
  claude: anthropic,
  codex: responses,
  opencode: anthropic,
  gemini,
};

/** One home may hold several agents: `models` says where each of them finds its model. */
export function agentHome(models: Readonly<Partial<Record<AgentName, string>>>): AgentHome {
  const path = mkdtempSync(join(tmpdir(), "holdfast-agent-"));
  const project = join(path, "project");
  mkdirSync(project);
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: path,
    TMPDIR: join(path, "tmp"),
  };
  mkdirSync(join(path, "tmp"));
  for (const [agent, url] of Object.entries(models)) {
    const setup = SETUPS[agent as AgentName](url);
    Object.assign(env, setup.env);
    for (const [file, text] of Object.entries(setup.files)) put(join(path, file), text);
  }
  // Agents that were killed may still be writing here for a moment.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return { path, project, env, age: () => ageGemini(join(path, ".gemini", "tmp")), [Symbol.dispose]: remove };
}

interface Setup {
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

const SETUPS: Readonly<Record<AgentName, (url: string) => Setup>> = {
  claude: (url) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
    },
    files: {},
  }),
  codex: (url) => ({
    env: { FAKE_KEY: "dummy", NO_BROWSER: "1" },
    files: { ".codex/config.toml": codexConfig(url) },
  }),
  opencode: (url) => ({
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_SHARE: "1",
    },
    files: { ".config/opencode/opencode.json": opencodeConfig(url) },
  }),
  gemini: (url) => ({
    env: { GEMINI_API_KEY: "dummy", GOOGLE_GEMINI_BASE_URL: url },
    files: { ".gemini/settings.json": geminiSettings() },
  }),
};

function codexConfig(url: string): string {
  return `model = "gpt-fake"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
requires_openai_auth = false
request_max_retries = 1
stream_max_retries = 1
`;
}

function opencodeConfig(url: string): string {
  const models = { "claude-fake": { name: "Claude Fake", limit: { context: 200_000, output: 8000 } } };
  const options = { baseURL: `${url}/v1`, apiKey: "sk-dummy" };
  return JSON.stringify({
    autoupdate: false,
    share: "disabled",
    model: "fake/claude-fake",
    small_model: "fake/claude-fake",
    enabled_providers: ["fake"],
    // Asking is the point: what is allowed unasked shows nothing of how an agent asks.
    permission: { bash: "ask" },
    provider: { fake: { npm: "@ai-sdk/anthropic", name: "Fake", options, models } },
  });
}

function geminiSettings(): string {
  return JSON.stringify({
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
  });
}

/**
 * Gemini names a session's file by the minute and overwrites the one of the same minute when it loads the session:
 * what was said within the last minute would be lost. A test cannot wait that long.
 */
function ageGemini(folder: string): void {
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const older = file.replace(/session-[\dT-]{16}-/, "session-2020-01-01T00-00-");
    if (older !== file) renameSync(join(folder, file), join(folder, older));
  }
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
