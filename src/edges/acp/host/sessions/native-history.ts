import { adoptedEntries } from "#upstream/record/adopt";
import type { NativeMessage } from "#upstream/upstream";
import { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { HostedAgent } from "#edges/acp/bridge-upstream";
import type { ConversationRow } from "#store/requests";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import { fieldsOf, listIn } from "#log/json/json-fields";
import { NATIVE_SPACE } from "#transfer/agent-sessions/read-agent-sessions";

/** A session that only an agent knows, as a list shows it. */
export interface NativeListed {
  /** The id its conversation will have: the agent's name and its own id. */
  readonly sessionId: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly updatedAt: string | null;
}

/** The agent and its id of a session that an id of ours stands for; null when it stands for none. */
export function nativeRef(
  bridge: BridgeContext,
  id: string,
): { readonly upstream: HostedAgent; readonly session: string } | null {
  const split = id.indexOf(":");
  const upstream = bridge.upstreams.find(({ agent }) => agent === id.slice(0, split));
  return split === -1 || upstream === undefined ? null : { upstream, session: id.slice(split + 1) };
}

/** Makes a conversation of a session that only the agent has. */
export async function adoptNative(bridge: BridgeContext, id: string, cwd: string): Promise<void> {
  const ref = (await isOurs(bridge, id)) ? nativeRef(bridge, id) : null;
  const messages = ref === null ? [] : await messagesOf(ref.upstream, ref.session, { id, cwd });
  if (ref === null || messages.length === 0)
    throw new LogError("conversation_not_found", `There is no conversation ${id} here`, { conversation: id });
  const native = (await ref.upstream.native?.list())?.find((session) => session.id === ref.session);
  const { agent } = ref.upstream;
  const title = native?.title ?? null;
  // In one piece: a conversation that has the words but not the session would be told them again.
  const entries = adoptedEntries({ agent, session: ref.session, messages }, () => bridge.holdfast.newId());
  const titled = title === null ? {} : { title };
  await bridge.holdfast
    .create({ id, cwd: native?.cwd ?? cwd, ...titled, entries })
    .catch((error: unknown) => {
      // Another window opened it in the meantime.
      if (!isLogError(error, "conversation_exists")) throw error;
    });
}

async function isOurs(bridge: BridgeContext, id: string): Promise<boolean> {
  return bridge.holdfast.spaceId === NATIVE_SPACE && !(await linkedElsewhere(bridge)).has(id);
}

async function messagesOf(
  upstream: HostedAgent,
  session: string,
  at: { readonly id: string; readonly cwd: string },
): Promise<readonly NativeMessage[]> {
  if (upstream.native !== null) return (await upstream.native.read(session)) ?? [];
  const conversation = parseConversationId(at.id);
  const told = await upstream.replayedHistory(session, {
    conversation,
    cwd: at.cwd,
    model: null,
    config: {},
    usedAt: null,
  });
  return told.map(({ role, text }) => ({
    id: null,
    time: null,
    message: { role, content: [{ type: "text", text }] },
  }));
}

/** The sessions that only agents know, newest first. */
export async function nativeSessions(bridge: BridgeContext): Promise<readonly NativeListed[]> {
  if (bridge.holdfast.spaceId !== NATIVE_SPACE) return [];
  const known = new Set([...(await linkedIds(bridge, bridge.holdfast)), ...(await linkedElsewhere(bridge))]);
  const lists = await Promise.all(bridge.upstreams.map((upstream) => sessionsOf(upstream)));
  return lists
    .flat()
    .filter(({ sessionId }) => !known.has(sessionId))
    .toSorted((one, other) => (other.updatedAt ?? "").localeCompare(one.updatedAt ?? ""));
}

async function sessionsOf(upstream: HostedAgent): Promise<readonly NativeListed[]> {
  const { agent, native } = upstream;
  if (native !== null) {
    const sessions = await native.list();
    return sessions.flatMap(({ id, cwd, title, updatedAt }) =>
      cwd === null ? [] : [{ sessionId: `${agent}:${id}`, cwd, title, updatedAt }],
    );
  }
  // An agent that cannot list now must not keep people from what is listed here.
  const told = await upstream.listed().catch(() => null);
  const listed = listIn(fieldsOf(told)["sessions"] ?? null);
  return listed.flatMap(({ sessionId, cwd, title, updatedAt }) =>
    typeof sessionId !== "string" || typeof cwd !== "string"
      ? []
      : [{ sessionId: `${agent}:${sessionId}`, cwd, title: textOr(title), updatedAt: textOr(updatedAt) }],
  );
}

function textOr(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** What the conversations of other spaces hold. */
async function linkedElsewhere(bridge: BridgeContext): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  const { store, spaceId } = bridge.holdfast;
  for (const other of await store.spaces()) {
    if (other === spaceId) continue;
    for (const id of await linkedIds(bridge, bridge.holdfast.inSpace(other))) known.add(id);
  }
  return known;
}

/** What the conversations of a space hold already, by the id it would be listed under. */
async function linkedIds(bridge: BridgeContext, holdfast: Holdfast): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for await (const listed of holdfast.listAll()) {
    known.add(listed.conversation);
    if (listed.damage !== null) continue;
    for (const id of await linksOf(bridge, holdfast, listed)) known.add(id);
  }
  return known;
}

/** The sessions a conversation has held. A log that has not grown has the links it had. */
export function linksOf(
  bridge: BridgeContext,
  holdfast: Holdfast,
  { conversation, createdAt, headSeq }: Pick<ConversationRow, "conversation" | "createdAt" | "headSeq">,
): Promise<readonly string[]> {
  return bridge.listCache.links.of(holdfast, conversation).read((ids) => ids, { createdAt, headSeq });
}
