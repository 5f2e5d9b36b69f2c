import { nameOfProcess } from "#turn/running-process";
import { isDeadProcess } from "#turn/running-process";
import { LogError } from "#log/errors";
import { serveAcp, VENDORS } from "#edges/acp/index";
import { agentsOf } from "./known-agents.ts";
import { type Call, type Command, packageVersion } from "#edges/cli/command";

const ON_LIMIT = ["park", "switch", "ask"] as const;
const SILENCE_S = 60;
const NEVER_MS = 2_147_483_647; // the longest a timer can wait
const TOOL_PATIENCE = 10; // a tool may well be silent for longer

export const acp: Command = {
  name: "acp",
  summary: "Run an agent for your editor (ACP)",
  forms: ["[-- COMMAND...]"],
  about: `Your editor starts this command and talks to one agent whose session ids never change; Holdfast runs
COMMAND and records everything. After a rate limit, a crash, a lost session or a switch to another
agent, the conversation continues. The agent's messages pass through unchanged.

The names ${VENDORS.map(({ name }) => name).join(", ")} select how Holdfast reads an agent's errors and
records; without a name it uses the command. \`npm docs holdfast\` opens the guide for Zed,
JetBrains and Neovim.`,
  examples: [
    "holdfast acp -- npx @agentclientprotocol/claude-agent-acp",
    `holdfast acp --agent claude="npx @agentclientprotocol/claude-agent-acp" --agent codex="npx @agentclientprotocol/codex-acp" --on-limit ask`,
    "holdfast acp -- gemini --acp",
    "holdfast acp --model anthropic/claude-sonnet-5-5",
  ],
  options: {
    "--agent NAME=COMMAND...": "an agent; with several, the editor shows an option to choose one",
    "--account NAME=ACCOUNT...":
      "the login of that agent, under a name of your choice; Holdfast resumes a session only under its own account",
    "--on-limit park|switch|ask":
      "at a rate limit: park keeps the prompt until the limit resets (default), switch continues with the next agent, ask asks you",
    "--silence SECONDS": "report an agent that is silent for so long (default: 60; 0: never)",
    "Holdfast's own agent loop": "",
    "--model PROVIDER/NAME":
      "run this model in place of an agent: it reads, writes, searches and runs commands in the folder, and asks before it changes anything",
    "--base-url URL": "the URL of an openai-compatible model",
    "--mcp FILE": "MCP servers, in addition to those of the editor",
    "--no-memory": "don't read or save memory",
  },
  writes: true,
  async run(call) {
    const { io, flags } = call;
    const onLimit = flags.choice("on-limit", ON_LIMIT) ?? "park";
    if (call.json) throw new LogError("invalid_request", "acp has no --json: it prints the protocol");
    if (io.stdinIsTerminal)
      await io.err.write(
        "Your editor starts this command: it speaks the Agent Client Protocol. Ctrl-D quits.\n",
      );
    const agentArguments = {
      agents: flags.list("agent"),
      command: call.args,
      accounts: flags.list("account"),
    };
    const model = modelOf(call, agentArguments);
    // Loaded for whoever asks for it: most bridges stand before agents that bring their own.
    const loop =
      model === null ? null : await (await import("#edges/cli/serve/acp-loop")).acpLoop(call, model);
    const silenceS = flags.count("silence") ?? SILENCE_S;
    const silenceMs = Math.min(silenceS === 0 ? NEVER_MS : silenceS * 1_000, NEVER_MS);
    const others = loop ?? agentsOf(agentArguments, io.env);
    const holdfast = await call.open();
    const signal = io.catchInterrupt();
    // Whoever is impatient must not leave the agents behind: a second signal changes nothing.
    signal.addEventListener("abort", () => void io.catchInterrupt());
    await serveAcp({
      holdfast,
      agents: typeof others === "function" ? others(holdfast) : others,
      onLimit,
      version: packageVersion(),
      runtime: {
        silenceMs,
        toolSilenceMs: Math.min(silenceMs * TOOL_PATIENCE, NEVER_MS),
        onSilence: "tell",
        writer: await nameOfProcess("holdfast acp"),
        isDead: isDeadProcess,
      },
      input: io.stdin,
      output: (bytes) => io.out.writeBytes(bytes),
      signal,
    });
  },
};

/** The model of our own loop, which stands alone; null where agents are named. */
function modelOf({ flags }: Call, others: Parameters<typeof agentsOf>[0]): string | null {
  const [model, baseUrl] = [flags.text("model"), flags.text("base-url")];
  if (model === undefined && baseUrl !== undefined)
    throw new LogError("invalid_request", "--base-url needs --model PROVIDER/NAME");
  if (model === undefined && flags.text("mcp") !== undefined)
    throw new LogError("invalid_request", "--mcp needs --model PROVIDER/NAME");
  if (model === undefined) return null;
  if (Object.values(others).some((values) => values.length > 0))
    throw new LogError(
      "invalid_request",
      "--model runs Holdfast's own agent loop. Remove the agents, or start a second `holdfast acp` for them",
    );
  return model;
}
