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
import { answer, type Call, remark } from "#edges/cli/command";
import { ownSkills } from "#edges/cli/skills/own-skills";
import { packageVersion } from "#edges/cli/version";
import { servedAgents } from "./served-agents.ts";
import { servedReplays } from "./served-model.ts";
import { servedPlace } from "./served-place.ts";
import { Metrics } from "#telemetry/metrics";
import { tracedBy } from "./traced-by.ts";
import { builtUi } from "./built-ui.ts";

const GRACE_MS = 10_000;
const CLOSE_MS = 2_000;

/** Serves until it is told to stop. */
export async function runServer(call: Call): Promise<void> {
  const stop = call.io.catchInterrupt();
  const { secret, grant, listening } = await start(call);
  await tell(call, listening, { secret, grant });
  await stopped(stop);
  if (!call.json) await remark(call, "Stopping: nothing new is begun, what is under way is finished.");
  await listening.handler.drain(GRACE_MS);
  await listening.close(CLOSE_MS);
}

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
  const agents = await servedAgents(call, skills);
  const metrics = new Metrics();
  const telemetry = [metrics, ...(await tracedBy(call))];
  const holdfast = await call.open({ readOnly, telemetry });
  const host = flags.text("host");
  const listening = await listen(
    (port) =>
      new HttpHandler({
        holdfast,
        readOnly,
        skills,
        agents,
        metrics,
        ui: flags.has("no-ui") ? null : builtUi(),
        replays: servedReplays(call, skills),
        version: packageVersion(),
        place: servedPlace(call.store),
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
