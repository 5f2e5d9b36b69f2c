import type { Listening } from "#edges/http/node/listen";
import type { HttpLimits, ServedPlace } from "#edges/http/http-options";
import { LogError } from "#log/errors";
import { join, resolve } from "node:path";
import { HttpHandler, type ServerLog, knownNames, listen } from "#edges/http/index";
import { type Grant, THIS_RUN, grantOf } from "#edges/http/access/grant";
import { type Call, packageVersion, remark } from "#edges/cli/command";
import { ownSkills } from "#edges/cli/chat/own-skills";
import { ownRecords } from "#edges/cli/chat/native-records";
import { type ServerRun, ownRun, publicUrlOf, supervisedRun } from "./server-run.ts";
import { servedAgents, servedReplays } from "./agent-sources.ts";
import { Metrics } from "#telemetry/metrics";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readdir, stat } from "node:fs/promises";
import { redactAddress } from "#stores/redact-address";
import type { StoreObserver } from "#store/decorate";
import type { LogFields, LogLevel } from "#edges/http/server-log";
import { safeText } from "#transfer/views/safe-text";

/** Serves until it is told to stop. */
export async function runServer(call: Call): Promise<void> {
  const run = call.flags.has("supervised") ? await supervisedRun(call) : ownRun(call);
  const { grant, listening } = await start(call, run);
  await run.ready(listening, grant);
  await untilStopped(run.stop);
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

async function untilStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve: resolveStop } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolveStop(), { once: true });
  await promise;
}

/** The pages of the web UI as they were built: shipped with the package; null in a checkout where they were not. */
export function builtUi(): string | null {
  const folder = fileURLToPath(new URL("../../../../dist/ui", import.meta.url));
  return existsSync(folder) ? folder : null;
}

/** Where the store of an address lies, and how much room it takes, where that is a file or a folder. */
export function servedPlace(address: string): ServedPlace {
  const [, kind, place = ""] = /^(sqlite|jsonl):(.+)$/s.exec(address) ?? [];
  if (kind === undefined) return { address: redactAddress(address) };
  const path = resolve(place);
  const files = async (): Promise<readonly string[]> =>
    kind === "sqlite"
      ? [path, `${path}-wal`, `${path}-shm`]
      : (await readdir(path, { recursive: true })).map((name) => join(path, name));
  return {
    address: `${kind}:${path}`,
    bytes: async () => {
      let bytes = 0;
      for (const file of await files().catch(() => [])) {
        const stats = await stat(file).catch(() => null); // one that went in the meantime takes none
        if (stats?.isFile() === true) bytes += stats.size;
      }
      return bytes;
    },
  };
}

/** Spans for `--otel`: they go to whichever SDK was loaded before the command, as `node --import` does. */
export async function tracedBy(call: Call): Promise<readonly StoreObserver[]> {
  if (!call.flags.has("otel")) return [];
  const { hasTracerProvider, openTelemetry } = await import("#telemetry/open-telemetry");
  const observer = await openTelemetry();
  if (!(await hasTracerProvider()) && !call.json)
    await remark(
      call,
      "No OpenTelemetry SDK is registered, so spans are not exported. Load one first, for example with NODE_OPTIONS='--import ./otel.mjs'.",
    );
  return [observer];
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const FORMATS = ["text", "json"] as const;

/** Writes what a server logs to stderr, as `--log-format` and `--log-level` say: one line for each event. */
export function logLines({ flags, io }: Call, ordinary: LogLevel): ServerLog {
  const format = flags.choice("log-format", FORMATS) ?? "text";
  const minLevel = LEVELS.indexOf(flags.choice("log-level", LEVELS) ?? ordinary);
  return (level, message, fields) => {
    if (LEVELS.indexOf(level) < minLevel) return;
    const time = new Date().toISOString();
    const line =
      format === "json"
        ? JSON.stringify({ time, level, message, ...fields })
        : `${time} ${level.padEnd(5)} ${message} ${textOf(fields)}`.trimEnd();
    void io.err.write(`${line}\n`);
  };
}

/** `name=value` pairs; an error last, as it reads. Text of clients is quoted, so that no line can be forged. */
function textOf({ error, ...fields }: LogFields): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const isPlain = typeof value !== "object" && /^[\w.:/@-]{1,256}$/.test(String(value));
    return [`${name}=${isPlain ? String(value) : safeText(JSON.stringify(value))}`];
  });
  const reason = typeof error === "string" ? [safeText(error)] : [];
  return [...pairs, ...reason].join(" ");
}
