import type { Command } from "#edges/cli/command";

export const uiCommand: Command = {
  name: "ui",
  summary: "Opens the web UI: look at conversations, talk, fork, compare, replay",
  usage: [
    "[ID[@ENTRY]] [--port N] [--host ADDRESS] [--no-open] [--print-link] [--read-only] [--cwd DIR] [--model PROVIDER/NAME]... [--agent NAME=COMMAND|simulated]...",
  ],
  about: `Starts a server on this machine, prints a link that opens one browser, once and within five minutes,
and opens it where there is a display. With an id it opens that conversation. Prompts can be sent
where a model or an agent is named; --agent simulated needs no key and no network, and can be made
to run into any trouble. A server that dies is started again on the same port, and open pages go on. Ctrl-C, or
SIGTERM, ends it. With --json all that is printed is one object. What is printed to a file or a pipe may be
kept there: the link goes to a terminal alone, unless --print-link asks for it.

  --port N           the port; any free one unless given
  --host ADDRESS     the address to listen on, as for \`serve\`; any but this machine's own needs --allow-host
  --no-open          only prints the link
  --print-link       prints the link, and with --json a token, wherever the output goes
  --read-only        nothing is written
  --cwd, --model, --base-url, --no-memory, --agent, --account, --speed
                     who answers, and where: see \`holdfast help serve\``,
  examples: [
    "holdfast ui",
    "holdfast ui --agent simulated",
    "holdfast ui 7f3a@b2",
    "holdfast ui --port 8080 --no-open",
    "holdfast ui --read-only",
  ],
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    cwd: { type: "string" },
    model: { type: "string", multiple: true },
    agent: { type: "string", multiple: true },
    account: { type: "string", multiple: true },
    speed: { type: "string" },
    "base-url": { type: "string" },
    "no-memory": { type: "boolean" },
    "no-open": { type: "boolean" },
    "print-link": { type: "boolean" },
    "read-only": { type: "boolean" },
  },
  writes: true,
  arity: [0, 1],
  run: async (call) => (await import("./run-ui.ts")).runUi(call),
};
