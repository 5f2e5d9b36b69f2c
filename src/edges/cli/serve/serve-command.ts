import type { Command } from "#edges/cli/command";

export const serveCommand: Command = {
  name: "serve",
  summary: "Serves conversations over HTTP, to programs and browsers with a token",
  usage: [
    "[--port N] [--host ADDRESS] [--allow-host NAME]... [--public-url URL] [--trusted-proxy ADDRESS]... [--cwd DIR] [--model PROVIDER/NAME]... [--agent NAME=COMMAND|simulated]... [--account NAME=ACCOUNT]... [--otel] [--no-ui] [--rate N] [--print-link] [--log-format text|json] [--log-level LEVEL] [--read-only] [-- COMMAND [ARGUMENT...]]",
  ],
  about: `Listens on this machine alone, on a free port, and prints to a terminal a link that opens a browser once. A
program sends \`Authorization: Bearer TOKEN\`; \`holdfast token add\` makes tokens, each for one space.
GET /api/openapi.json describes every route, GET /metrics has figures for Prometheus. With --json what it prints is
one object. Ctrl-C, or SIGTERM, stops it: what is under way is
finished first, for ten seconds, and a turn that runs for longer is stopped.

Turns are run by the models and agents that are named; without one the server only reads and writes logs.

  --model PROVIDER/NAME  lets our own agent loop carry turns; given several times, clients choose among
                         them. It reads, writes and runs commands in the folder of --cwd, and what
                         changes something waits until a client allows it. sim needs no key
  --agent NAME=COMMAND   an ACP agent that carries turns, started when it is needed, as \`holdfast acp\` starts
                         it; may be given several times, or one behind --. It works in the folder of
                         --cwd, and what it asks a person waits until a client answers
  --account NAME=ACCOUNT whose login that agent runs with, as for \`holdfast acp\`
  --agent simulated      a simulated agent with sessions of its own, that clients may let run into any
                         trouble: POST /api/agents/simulated/trouble
  --speed N              how many times as fast as a real one the simulated agent works; 1 unless given
  --base-url URL         where an openai-compatible model is served
  --no-memory            the model is told nothing of memory, and saves nothing in it
  --port N           the port; any free one unless given
  --host ADDRESS     the address to listen on; 127.0.0.1 unless given. Any other than this machine's
                     own needs --allow-host: whoever reaches it may try tokens, and what is sent can
                     be read on the way unless a proxy in front speaks TLS
  --allow-host NAME  a name, with its port, that it may be asked for by, such as box.local:8080
  --public-url URL   how it is reached through a proxy, such as https://agents.example
  --trusted-proxy ADDRESS  a proxy, or a network such as 10.0.0.0/8, whose X-Forwarded-For says who asks
  --cwd DIR          the folder that conversations made here are about; clients never name one
  --otel             makes OpenTelemetry spans of turns, attempts and tools, for the SDK that was loaded before
                     (NODE_OPTIONS='--import ./otel.mjs'); needs the package @opentelemetry/api
  --no-ui            no pages for a browser, the API alone
  --rate N           how many requests a second a token may make; 200 unless given, twice that at once
  --print-link       prints the link, and with --json a token for as long as it runs, also where the
                     output is no terminal: a file or a journal keeps both
  --read-only        nothing is written, whatever a token may do
  --log-format NAME  text or json: how the server logs to stderr, one line for each event (default: text)
  --log-level LEVEL  debug, info, warn or error (default: info, which includes every request)`,
  examples: [
    "holdfast serve",
    "holdfast serve --model sim --cwd .",
    "holdfast serve --agent simulated",
    "holdfast serve --cwd . -- npx @agentclientprotocol/claude-agent-acp",
    "holdfast serve --port 8080 --read-only",
    "holdfast serve --host 0.0.0.0 --allow-host box.local:8080 --port 8080",
  ],
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "public-url": { type: "string" },
    "trusted-proxy": { type: "string", multiple: true },
    cwd: { type: "string" },
    model: { type: "string", multiple: true },
    agent: { type: "string", multiple: true },
    account: { type: "string", multiple: true },
    speed: { type: "string" },
    rate: { type: "string" },
    "base-url": { type: "string" },
    "no-memory": { type: "boolean" },
    otel: { type: "boolean" },
    "no-ui": { type: "boolean" },
    "print-link": { type: "boolean" },
    "read-only": { type: "boolean" },
    "log-format": { type: "string" },
    "log-level": { type: "string" },
    // Said by `holdfast ui` alone: the server is started again when it ends, and is handed what the one before knew.
    supervised: { type: "boolean" },
  },
  writes: true,
  arity: [0, Number.POSITIVE_INFINITY],
  // The server and what it stands on are loaded when it is asked for, not by whoever lists commands.
  run: async (call) => (await import("./run-server.ts")).runServer(call),
};
