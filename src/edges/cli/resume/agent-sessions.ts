import type { Holdfast } from "#conversation/holdfast";
import { isUnder, type ListFilter } from "#conversation/list-conversations";
import { isLogError } from "#log/errors";
import { VENDORS } from "#vendors/known-vendors";
import { type Call, jsonLine, remark } from "#edges/cli/command";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/view/time";
import { nativeRecords } from "./native-records.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A session that only an agent has. */
export interface AgentSession {
  readonly agent: string;
  readonly session: string;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly updatedAt: string;
}

/** The sessions in the folders of known agents that no conversation of the store has held, newest first. */
export async function readAgentSessions(holdfast: Holdfast, env: Env): Promise<readonly AgentSession[]> {
  const known = await heldSessions(holdfast);
  const lists = await Promise.all(
    VENDORS.map(async (vendor) => {
      const sessions = (await nativeRecords(vendor, env)?.list()) ?? [];
      return sessions.map(({ id, cwd, title, updatedAt }) => ({
        agent: vendor.name,
        session: id,
        cwd,
        title,
        updatedAt,
      }));
    }),
  );
  return lists
    .flat()
    .filter(({ agent, session }) => !known.has(session) && !known.has(`${agent}:${session}`))
    .toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt));
}

/** What conversations of all spaces have held: the ids of sessions, and of conversations that were made of one. */
async function heldSessions(holdfast: Holdfast): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const space of await holdfast.store.spaces()) {
    const other = holdfast.inSpace(space);
    for await (const { conversation, damage } of other.listAll()) {
      known.add(conversation);
      if (damage !== null) continue;
      for (const fact of await other.unopened(conversation).facts(["upstream_link"]).catch(ifUnreadable))
        if (fact.type === "upstream_link") known.add(fact.upstream);
    }
  }
  return known;
}

function ifUnreadable(error: unknown): readonly never[] {
  if (isLogError(error) && (error.group === "damaged" || error.group === "missing")) return [];
  throw error;
}

/** Prints them, for `ls --agents`. */
export async function listAgentSessions(
  call: Call,
  { limit, filter }: { readonly limit: number; readonly filter: ListFilter },
): Promise<void> {
  const { under, cwd, since, agent } = filter;
  const holdfast = await call.open({ readOnly: true });
  const found = (await readAgentSessions(holdfast, call.io.env)).filter(
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
