import type { Listening } from "#edges/http/node/listen";
import type { HttpLimits } from "#edges/http/http-options";
import { LogError } from "#log/errors";
import { resolve } from "node:path";
import { HttpHandler, knownNames, listen } from "#edges/http/index";
import { THIS_RUN, type Grant, grantOf } from "#edges/http/access/grant";
import type { Call } from "#edges/cli/command";
import { logLines } from "./server-log-lines.ts";
import { ownSkills } from "#edges/cli/skills/own-skills";
import { packageVersion } from "#edges/cli/version";
import { ownRecords } from "#edges/cli/resume/own-records";
import { ownRun, publicUrlOf, type ServerRun } from "./server-run.ts";
import { supervisedRun } from "./supervised-run.ts";
import { servedAgents } from "./served-agents.ts";
import { servedReplays } from "./served-model.ts";
import { servedPlace } from "./served-place.ts";
import { Metrics } from "#telemetry/metrics";
import { tracedBy } from "./traced-by.ts";
import { builtUi } from "./built-ui.ts";

/** Serves until it is told to stop. */
export async function runServer(call: Call): Promise<void> {
  const run = call.flags.has("supervised") ? await supervisedRun(call) : ownRun(call);
  const { grant, listening } = await start(call, run);
  await run.ready(listening, grant);
  await stopped(run.stop);
  await run.ended();
  await listening.handler.drain(run.graceMs);
  await listening.close(run.closeMs);
}

async function start(
  call: Call,
  run: ServerRun,
): Promise<{ readonly grant: Grant; readonly listening: Listening }> {
  const { flags } = call;
  const hosts = flags.list("allow-host");
  const publicUrl = publicUrlOf(flags.text("public-url"));
  const readOnly = flags.has("read-only");
  const cwd = flags.text("cwd");
  const grant: Grant = { token: THIS_RUN, space: call.space, rights: readOnly ? "read" : "admin" };
  const skills = ownSkills(call.io.env);
  const agents = run.agents(await servedAgents(call, skills));
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
        agentRecords: ownRecords(call),
        ui: flags.has("no-ui") ? null : builtUi(),
        replays: servedReplays(call, skills),
        version: packageVersion(),
        place: servedPlace(call.store),
        names: knownNames({ port, hosts, ...(publicUrl === undefined ? {} : { publicUrl }) }),
        cookie: { name: `holdfast_${port}`, secure: publicUrl?.startsWith("https:") ?? false },
        trustedProxies: flags.list("trusted-proxy"),
        cwd: cwd === undefined ? null : resolve(cwd),
        limits: limitsOf(flags.count("rate")),
        findGrant: grantOf(run.secret, grant),
        keptAccess: run.keptAccess,
        log: logLines(call, flags.has("supervised") ? "error" : "info"),
      }),
    {
      ...(host === undefined ? {} : { host }),
      port: flags.count("port") ?? 0,
      beyondLoopback: hosts.length > 0,
    },
  );
  return { grant, listening };
}

function limitsOf(perSecond: number | undefined): Partial<HttpLimits> {
  if (perSecond === 0) throw new LogError("invalid_request", "--rate is a number from 1 on");
  return perSecond === undefined ? {} : { perSecond, burst: 2 * perSecond };
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve: done } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => done(), { once: true });
  await promise;
}
