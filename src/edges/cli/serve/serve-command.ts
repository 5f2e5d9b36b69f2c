import type { OptionTexts } from "#edges/cli/options";
import type { Command } from "#edges/cli/command";

/** The agents and models that run turns, for `serve` and `ui`. */
export const TURN_OPTIONS: OptionTexts = {
  "--model PROVIDER/NAME...":
    "run turns with Holdfast's own agent loop; clients choose among several models. Its tools work in the folder of --cwd, and changes wait for a client's approval. sim needs no key",
  "--agent NAME=COMMAND...":
    "run turns with an ACP agent, started on demand; `--agent simulated` needs no key and can inject failures",
  "--account NAME=ACCOUNT...": "the login of that agent, as for `holdfast acp`",
  "--cwd DIR": "the working folder of agents and new conversations",
  "--base-url URL": "the URL of an openai-compatible model",
  "--no-memory": "don't read or save memory",
  "--speed N": "how many times as fast as a real one the simulated agent works (default: 1)",
};

/** Where `serve` and `ui` listen, and what they print. */
export const LISTEN_OPTIONS: OptionTexts = {
  "--port N": "the port (default: a free one)",
  "--host ADDRESS":
    "the address to listen on (default: 127.0.0.1); any other needs --allow-host, and a TLS proxy in front",
  "--allow-host NAME...": "a host name and port that clients may use, such as box.local:8080",
  "--read-only": "reject every write, whatever the token allows",
  "--print-link": "print the link (and with --json a token) even if output isn't a terminal",
};

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve conversations over HTTP, with tokens",
  forms: ["[-- COMMAND...]"],
  about: `Listens on this machine on a free port and prints a link for a browser. Programs send
\`Authorization: Bearer TOKEN\`; \`holdfast token add\` creates tokens. GET /api/openapi.json
describes every route, and GET /metrics has metrics for Prometheus. Without a model or an agent
the server only reads and writes logs. On Ctrl-C or SIGTERM it finishes running requests for ten
seconds, then stops the turns that still run.`,
  examples: [
    "holdfast serve",
    "holdfast serve --model sim --cwd .",
    "holdfast serve --agent simulated",
    "holdfast serve --cwd . -- npx @agentclientprotocol/claude-agent-acp",
    "holdfast serve --port 8080 --read-only",
    "holdfast serve --host 0.0.0.0 --allow-host box.local:8080 --port 8080",
  ],
  options: {
    "Run turns": "",
    ...TURN_OPTIONS,
    Listen: "",
    ...LISTEN_OPTIONS,
    "--public-url URL": "the URL behind a proxy, such as https://agents.example",
    "--trusted-proxy ADDRESS...": "a proxy, or a network such as 10.0.0.0/8, whose X-Forwarded-For to trust",
    "--rate N": "requests per second for each token (default: 200, with bursts of twice that)",
    "--no-ui": "serve the API only",
    "Log and measure": "",
    "--log-format text|json": "the format of log lines on standard error (default: text)",
    "--log-level debug|info|warn|error": "the least level (default: info, with every request)",
    "--otel":
      "create OpenTelemetry spans for the SDK that NODE_OPTIONS='--import ./otel.mjs' loads; needs @opentelemetry/api",
    // `holdfast ui` starts the server again when it ends, and hands it the state of the one before.
    "--supervised": "",
  },
  writes: true,
  // The server and what it stands on are loaded when it is asked for, not by whoever lists commands.
  run: async (call) => (await import("./run-server.ts")).runServer(call),
};
