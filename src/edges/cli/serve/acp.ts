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
  summary: "Stand between an editor and an ACP agent, so that the conversation outlives its sessions",
  usage: [
    "--model PROVIDER/NAME [--base-url URL] [--mcp FILE] [--no-memory]",
    "[--agent NAME=COMMAND]... [--account NAME=ACCOUNT]... [--on-limit park|switch|ask] [--silence SECONDS] [-- COMMAND [ARGUMENT...]]",
  ],
  about: `Speaks ACP on standard input and output: to the editor it is one agent whose session ids
never change; behind it runs COMMAND, whose sessions may die as they like. Everything said
and done is recorded first-hand, so a limit, a crash, a deleted transcript or another agent
costs nothing but a notice. What the agent says passes through unchanged.

  --model PROVIDER/NAME our own agent loop with this model, in place of an agent: it reads, writes, searches and
                        runs commands in the folder of the conversation, and asks before it changes anything.
                        The editor shows an option "Model"; /model, /skill, /compact and /continue are its
                        commands
  --base-url URL        where an openai-compatible model is served
  --no-memory           that model is told nothing of memory, and saves nothing in it
  --mcp FILE            with --model: MCP servers beside those that the editor gives, as \`chat\` has them
  --agent NAME=COMMAND  an agent to choose from; may be given several times. With more than one,
                        the editor shows an option "Agent", and /agent NAME goes on with another
  --account NAME=ACCOUNT  whose login that agent runs with, in a word of your own; with a single agent
                        ACCOUNT alone will do. A session is only resumed under the account it
                        began under, and \`holdfast sign-out --account ACCOUNT\` ends them all
  --on-limit WHAT       when an agent is at its limit: park keeps the prompt and says until when
                        (the default), switch goes on with the next agent, ask asks
  --silence SECONDS     says so when an agent has been silent for so long; 60 unless given, 0 never

The names ${VENDORS.map(({ name }) => name).join(", ")} say how an agent words its failures and where it
keeps its own history; without a name it is taken from the command. How to set this up in Zed,
JetBrains, Neovim and others: docs/how-to/integrate/acp-editors.md.`,
  examples: [
    "holdfast acp -- npx @agentclientprotocol/claude-agent-acp",
    `holdfast acp --agent claude="npx @agentclientprotocol/claude-agent-acp" --agent codex="npx @agentclientprotocol/codex-acp" --on-limit ask`,
    "holdfast acp -- gemini --acp",
    "holdfast acp --model anthropic/claude-sonnet-5-5",
  ],
  options: {
    model: { type: "string" },
    "base-url": { type: "string" },
    "no-memory": { type: "boolean" },
    mcp: { type: "string" },
    agent: { type: "string", multiple: true },
    account: { type: "string", multiple: true },
    "on-limit": { type: "string" },
    silence: { type: "string" },
  },
  writes: true,
  arity: [0, Number.POSITIVE_INFINITY],
  async run(call) {
    const { io, flags } = call;
    const value = flags.text("on-limit") ?? "park";
    const onLimit = ON_LIMIT.find((option) => option === value);
    if (onLimit === undefined)
      throw new LogError("invalid_request", `--on-limit takes ${ON_LIMIT.join(", ")}, not "${value}"`);
    if (call.json)
      throw new LogError("invalid_request", "acp has no --json: what it prints is the protocol's own");
    if (io.stdinIsTerminal)
      await io.err.write("This speaks the Agent Client Protocol; an editor starts it. Ctrl-D ends it.\n");
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
    throw new LogError("invalid_request", "--base-url says where the model of --model is served; name one");
  if (model === undefined && flags.text("mcp") !== undefined)
    throw new LogError("invalid_request", "--mcp is for the model of --model; name one");
  if (model === undefined) return null;
  if (Object.values(others).some((values) => values.length > 0))
    throw new LogError(
      "invalid_request",
      "--model is our own agent loop, and stands alone: leave out the agents, or start a second one for them",
    );
  return model;
}
