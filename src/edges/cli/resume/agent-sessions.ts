import { isUnder, type ListFilter } from "#conversation/list-conversations";
import { systemClock } from "#conversation/clock";
import { listAgentSessions } from "#operations/spaces";
import { perform, valueOf } from "#operations/operation";
import { type Call, jsonLine, remark } from "#edges/cli/command";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/view/time";
import { knownRecords } from "./native-records.ts";

/** Prints them, for `ls --agents`. */
export async function printAgentSessions(
  call: Call,
  { limit, filter }: { readonly limit: number; readonly filter: ListFilter },
): Promise<void> {
  const { under, cwd, since, agent } = filter;
  const holdfast = await call.open({ readOnly: true });
  const context = { holdfast, clock: systemClock, agentRecords: knownRecords(call.io.env) };
  const { sessions } = valueOf(await perform(listAgentSessions, {}, context));
  const found = sessions.filter(
    (one) =>
      (under === undefined || isUnder(one.cwd, under)) &&
      (cwd === undefined || one.cwd === cwd) &&
      (agent === undefined || one.agent === agent) &&
      (since === undefined || Date.parse(one.updatedAt) >= Date.parse(since)),
  );
  const { out } = call.io;
  for (const one of found.slice(0, Number.isFinite(limit) ? limit : undefined)) {
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
  if (found.length === 0 && !call.json) await remark(call, "No agent has a session that is not here.");
}
