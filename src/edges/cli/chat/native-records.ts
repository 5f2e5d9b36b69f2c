import { homedir } from "node:os";
import { join } from "node:path";
import { type Call, jsonLine, remark } from "#edges/cli/command";
import type { AgentRecords } from "#transfer/agent-sessions";
import { VENDORS } from "#vendors/known-vendors";
import type { NativeStore } from "#vendors/native-store";
import type { Vendor } from "#vendors/vendor";
import { isUnder, type ListFilter } from "#conversation/list-conversations";
import { systemClock } from "#conversation/clock";
import { listAgentSessions } from "#operations/spaces";
import { perform, valueOf } from "#operations/operation";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/terminal/time";

type Env = Readonly<Record<string, string | undefined>>;

/** Where an agent keeps its own histories; null where it cannot be read. */
export function nativeRecords({ records }: Vendor, env: Env): NativeStore | null {
  if (records === null) return null;
  return records.open(env[records.variable] ?? join(env["HOME"] ?? homedir(), records.folder));
}

/** Those of all agents whose records can be read. */
function vendorRecords(env: Env): AgentRecords {
  return new Map(
    VENDORS.flatMap((vendor) => {
      const records = nativeRecords(vendor, env);
      return records === null ? [] : [[vendor.name, records] as const];
    }),
  );
}

/**
 * What agents keep in a person's home is shown to that person alone: by `holdfast ui`, on a server that nobody else is told of. One that is
 * reached by other names serves whoever has a token for it.
 */
export function ownRecords({
  flags,
  io,
}: Pick<Call, "flags"> & { readonly io: Pick<Call["io"], "env"> }): AgentRecords {
  const isOwn =
    flags.has("supervised") &&
    flags.list("allow-host").length === 0 &&
    flags.text("public-url") === undefined;
  return isOwn ? vendorRecords(io.env) : new Map();
}

/** Prints them, for `ls --agents`. */
export async function printAgentSessions(
  call: Call,
  { limit, filter }: { readonly limit: number; readonly filter: ListFilter },
): Promise<void> {
  const { under, cwd, since, agent } = filter;
  const holdfast = await call.open({ readOnly: true });
  const context = { holdfast, clock: systemClock, agentRecords: vendorRecords(call.io.env) };
  const { sessions } = valueOf(await perform(listAgentSessions, {}, context));
  const matches = sessions.filter(
    (one) =>
      (under === undefined || isUnder(one.cwd, under)) &&
      (cwd === undefined || one.cwd === cwd) &&
      (agent === undefined || one.agent === agent) &&
      (since === undefined || Date.parse(one.updatedAt) >= Date.parse(since)),
  );
  const { out } = call.io;
  for (const one of matches.slice(0, Number.isFinite(limit) ? limit : undefined)) {
    if (call.json) {
      await out.write(jsonLine(one));
      continue;
    }
    const cells = [
      out.style.cyan(pad(safeLine(`${one.agent}:${one.session}`), 43)),
      out.style.dim(pad(ageOf(one.updatedAt, Date.now()), 7)),
      safeLine(one.cwd ?? ""),
      fit(safeLine(one.title ?? ""), Math.max(16, out.columns - 60)),
    ];
    await out.write(`${cells.filter(Boolean).join("  ").trimEnd()}\n`);
  }
  if (matches.length === 0 && !call.json) await remark(call, "No agent has a session that is not here.");
}
