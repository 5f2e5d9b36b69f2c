import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { Conversation } from "#conversation/conversation";
import { adoptedEntries } from "#upstream/sessions/adopt-turns";
import type { NativeStore } from "#vendors/native-store";

/** What agents keep of their own sessions, by the agent's name. */
export type AgentRecords = ReadonlyMap<string, NativeStore>;

/** A session that only an agent has. */
export interface AgentSession {
  readonly agent: string;
  readonly session: string;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly updatedAt: string;
}

/**
 * Agents keep their sessions in one folder, whoever they work for. Only one space looks there, so that no other sees
 * what is not its own.
 */
export const NATIVE_SPACE = "default";

/** The sessions in the folders of agents that no conversation of the store has held, newest first. */
export async function readAgentSessions(
  holdfast: Holdfast,
  records: AgentRecords,
): Promise<readonly AgentSession[]> {
  if (holdfast.spaceId !== NATIVE_SPACE) return [];
  const lists = await Promise.all(
    [...records].map(async ([agent, store]) =>
      (await store.list()).map(({ id: session, cwd, title, updatedAt }) => ({
        agent,
        session,
        cwd,
        title,
        updatedAt,
      })),
    ),
  );
  const all = lists.flat();
  if (all.length === 0) return []; // what is held is read from every log
  const sessions = await recordedSessions(holdfast);
  return all
    .filter(({ agent, session }) => !sessions.has(session) && !sessions.has(`${agent}:${session}`))
    .toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt));
}

/** Makes a conversation of a session that only an agent has, under the id that editors know it by. Done twice it is one. */
export async function adoptAgentSession(
  holdfast: Holdfast,
  records: AgentRecords,
  { agent, session }: Pick<AgentSession, "agent" | "session">,
): Promise<Conversation> {
  const row = (await readAgentSessions(holdfast, records)).find(
    (one) => one.agent === agent && one.session === session,
  );
  const messages = row === undefined ? null : ((await records.get(agent)?.read(session)) ?? null);
  if (row === undefined || messages === null)
    throw new LogError("conversation_not_found", `${agent} has no session ${session} to import`, {
      agent,
      session,
    });
  const { cwd, title } = row;
  return holdfast.create({
    id: `${agent}:${session}`,
    ...(cwd === null ? {} : { cwd }),
    ...(title === null ? {} : { title }),
    entries: adoptedEntries({ agent, session, messages }, () => holdfast.newId()),
  });
}

/** What conversations of all spaces have held, and those that were made of a session: an agent may go by another name there. */
async function recordedSessions(holdfast: Holdfast): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>();
  for (const space of await holdfast.store.spaces()) {
    const other = holdfast.inSpace(space);
    for await (const { conversation, damage } of other.listAll()) {
      sessions.add(conversation);
      if (damage !== null) continue;
      for (const fact of await other.handle(conversation).facts(["upstream_link"]).catch(ifUnreadable))
        if (fact.type === "upstream_link") sessions.add(fact.upstream);
    }
  }
  return sessions;
}

function ifUnreadable(error: unknown): readonly never[] {
  if (isLogError(error) && (error.group === "damaged" || error.group === "missing")) return [];
  throw error;
}
