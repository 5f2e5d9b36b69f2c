import { LogError } from "#log/errors";
import { resolve } from "node:path";
import {
  type Grant,
  grantOf,
  HttpHandler,
  knownNames,
  listen,
  type Listening,
  newSecret,
} from "#edges/http/index";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { ownSkills } from "#edges/cli/skills/own-skills";
import { packageVersion } from "#edges/cli/version";
import { servedModel } from "./served-model.ts";

const GRACE_MS = 10_000;
const CLOSE_MS = 2_000;

export const serveCommand: Command = {
  name: "serve",
  summary: "Serves conversations over HTTP, to programs and browsers with a token",
  usage: [
    "[--port N] [--host ADDRESS] [--allow-host NAME]... [--public-url URL] [--cwd DIR] [--model PROVIDER/NAME]... [--read-only]",
  ],
  about: `Listens on this machine alone, on a free port, and prints a link that opens a browser once. A
program sends \`Authorization: Bearer TOKEN\`; \`holdfast token add\` makes tokens, each for one space.
GET /api/openapi.json describes every route. With --json the address, the link and a token for as
long as it runs are printed as one object. Ctrl-C, or SIGTERM, stops it: what is under way is
finished first, for ten seconds, and a turn that runs for longer is stopped.

  --model PROVIDER/NAME  lets our own agent loop carry turns; given several times, clients choose among
                         them. It reads, writes and runs commands in the folder of --cwd, and what
                         changes something waits until a client allows it. sim needs no key
  --base-url URL         where an openai-compatible model is served
  --no-memory            the model is told nothing of memory, and saves nothing in it
  --port N           the port; any free one unless given
  --host ADDRESS     the address to listen on; 127.0.0.1 unless given. Any other than this machine's
                     own needs --allow-host: whoever reaches it may try tokens, and what is sent can
                     be read on the way unless a proxy in front speaks TLS
  --allow-host NAME  a name, with its port, that it may be asked for by, such as box.local:8080
  --public-url URL   how it is reached through a proxy, such as https://agents.example
  --cwd DIR          the folder that conversations made here are about; clients never name one
  --read-only        nothing is written, whatever a token may do`,
  examples: [
    "holdfast serve",
    "holdfast serve --model sim --cwd .",
    "holdfast serve --port 8080 --read-only",
    "holdfast serve --host 0.0.0.0 --allow-host box.local:8080 --port 8080",
  ],
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "public-url": { type: "string" },
    cwd: { type: "string" },
    model: { type: "string", multiple: true },
    "base-url": { type: "string" },
    "no-memory": { type: "boolean" },
    "read-only": { type: "boolean" },
  },
  writes: true,
  arity: [0, 0],
  async run(call) {
    const stop = call.io.catchInterrupt();
    const { secret, grant, listening } = await start(call);
    await tell(call, listening, { secret, grant });
    await stopped(stop);
    if (!call.json) await remark(call, "Stopping: nothing new is begun, what is under way is finished.");
    await listening.handler.drain(GRACE_MS);
    await listening.close(CLOSE_MS);
  },
};

const LOOP = "holdfast"; // as editors call it

interface RunToken {
  readonly secret: string;
  readonly grant: Grant;
}

async function start(call: Call): Promise<RunToken & { readonly listening: Listening }> {
  const { flags } = call;
  const hosts = flags.list("allow-host");
  const publicUrl = publicUrlOf(flags.text("public-url"));
  const readOnly = flags.has("read-only");
  const cwd = flags.text("cwd");
  const secret = newSecret("hf");
  const grant: Grant = { token: "this-run", space: call.space, rights: readOnly ? "read" : "admin" };
  const skills = ownSkills(call.io.env);
  const loop = await servedModel(call, skills);
  const holdfast = await call.open({ readOnly });
  const host = flags.text("host");
  const listening = await listen(
    (port) =>
      new HttpHandler({
        holdfast,
        readOnly,
        skills,
        agents: loop === null ? {} : { [LOOP]: loop },
        version: packageVersion(),
        names: knownNames({ port, hosts, ...(publicUrl === undefined ? {} : { publicUrl }) }),
        cookie: { name: `holdfast_${port}`, secure: publicUrl?.startsWith("https:") ?? false },
        cwd: cwd === undefined ? null : resolve(cwd),
        findGrant: grantOf(secret, grant),
        onError: (error) =>
          void remark(
            call,
            `holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          ),
      }),
    {
      ...(host === undefined ? {} : { host }),
      port: flags.count("port") ?? 0,
      beyondLoopback: hosts.length > 0,
    },
  );
  return { secret, grant, listening };
}

function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "")
    return url.origin;
  throw new LogError("invalid_request", `--public-url takes https://NAME, without a path, not "${text}"`);
}

async function tell(call: Call, { url, handler }: Listening, { secret, grant }: RunToken): Promise<void> {
  const launch = `${url}/launch?code=${handler.launchCode(grant)}`;
  await answer(
    call,
    { url, launch, token: secret, space: grant.space, rights: grant.rights },
    () => `Serving the space ${grant.space} at ${url}
Open once, within five minutes: ${launch}
Ctrl-C stops it.`,
  );
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve: done } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => done(), { once: true });
  await promise;
}
