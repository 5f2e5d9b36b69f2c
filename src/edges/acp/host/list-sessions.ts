import { listConversations } from "#operations/conversations";
import { perform, valueOf } from "#operations/operation";
import { cwdOf } from "#log/projections/settings";
import type { ConversationRow } from "#store/requests";
import type { BridgeContext } from "./open-conversations.ts";
import type { HostRequest } from "./host-request.ts";
import { readJson } from "#log/json/read-json";
import { adoptedEntries } from "#upstream/sessions/adopt-turns";
import type { NativeMessage } from "#upstream/upstream";
import { Holdfast } from "#conversation/holdfast";
import { LogError, isLogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { HostedAgent } from "#edges/acp/bridge-agents";
import { fieldsOf, listIn } from "#log/json/json-fields";
import { NATIVE_SPACE } from "#transfer/agent-sessions";
import { LiveProjections } from "#conversation/live-projection";
import type { Projection } from "#log/projections/projection";

const PAGE = 50;

/** A place in the list: first the conversations, then what only agents know. */
type Cursor =
  | { readonly in: "conversations"; readonly after: string | null }
  | { readonly in: "native"; readonly from: number };

interface Row {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title?: string;
  readonly updatedAt?: string;
}

export async function listSessions(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const cwd = request.text("cwd");
  let cursor = readCursor(request.text("cursor"));
  const rows: Row[] = [];
  while (rows.length === 0 && cursor !== null) {
    const page = await readPage(bridge, cursor);
    rows.push(...page.rows.filter((row) => cwd === null || row.cwd === cwd));
    cursor = page.next;
  }
  const next = cursor === null ? {} : { nextCursor: cursorText(cursor) };
  if (request.id !== null) bridge.wire.respond(request.id, JSON.stringify({ sessions: rows, ...next }));
}

async function readPage(
  bridge: BridgeContext,
  cursor: Cursor,
): Promise<{ readonly rows: readonly Row[]; readonly next: Cursor | null }> {
  if (cursor.in === "native") {
    const all = await nativeSessions(bridge);
    const end = cursor.from + PAGE;
    const rows = all.slice(cursor.from, end).map((session) => nativeRow(session));
    return { rows, next: end < all.length ? { in: "native", from: end } : null };
  }
  const { after } = cursor;
  const { holdfast, clock } = bridge;
  const input = { limit: PAGE, ...(after === null ? {} : { cursor: after }) };
  const { conversations, next } = valueOf(await perform(listConversations, input, { holdfast, clock }));
  const rows: Row[] = [];
  for (const row of conversations)
    if (!isForgotten(row, bridge.clock.nowMs()) && !(await isUnused(bridge, row)))
      rows.push(await rowOf(bridge, row));
  return { rows, next: next === null ? { in: "native", from: 0 } : { in: "conversations", after: next } };
}

const UNUSED_SEQ_MAX = 6; // its root, its settings, its model and a session or two

const FORGOTTEN_MS = 86_400_000; // a day

/** One that was opened a while ago and never prompted is nothing to come back to; the first prompt gives a title. */
function isForgotten({ title, headSeq, origin, updatedAt }: ConversationRow, nowMs: number): boolean {
  const unused = title === null && origin === null && headSeq <= UNUSED_SEQ_MAX;
  return unused && nowMs - Date.parse(updatedAt) > FORGOTTEN_MS;
}

/** A session that was refused to a host: it is empty and unknown. */
async function isUnused(bridge: BridgeContext, row: ConversationRow): Promise<boolean> {
  const { title, headSeq, origin, damage, conversation, summary } = row;
  if (title !== null || origin !== null || damage !== null || headSeq > EMPTY_SEQ_MAX) return false;
  if (bridge.conversations.get(conversation) !== null) return false;
  return (summary?.links ?? (await linksOf(bridge, bridge.holdfast, row)).length) === 0;
}

const EMPTY_SEQ_MAX = 2; // its root and its settings

async function rowOf(bridge: BridgeContext, row: ConversationRow): Promise<Row> {
  const { conversation, title, updatedAt } = row;
  const cwd = await folderOf(bridge, row);
  return { sessionId: conversation, cwd, ...(title === null ? {} : { title }), updatedAt };
}

/** Where the conversation lives now: it may have followed its project since it was made. */
async function folderOf(bridge: BridgeContext, row: ConversationRow): Promise<string> {
  const { conversation, headSeq, cwd, damage } = row;
  const open = bridge.conversations.get(conversation);
  if (open !== null) return open.settings.folder(cwd) ?? "/";
  const read = bridge.listCache.folders.get(conversation);
  if (read?.headSeq === headSeq) return read.cwd;
  const config = damage === null ? (await bridge.holdfast.handle(conversation).settings()).config : {};
  const now = cwdOf(config, cwd) ?? "/";
  bridge.listCache.folders.set(conversation, { headSeq, cwd: now });
  return now;
}

function nativeRow({ sessionId, cwd, title, updatedAt }: NativeSession): Row {
  return {
    sessionId,
    cwd,
    ...(title === null ? {} : { title }),
    ...(updatedAt === null ? {} : { updatedAt }),
  };
}

function cursorText(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

function readCursor(text: string | null): Cursor | null {
  if (text === null) return { in: "conversations", after: null };
  try {
    const cursor = readJson(Buffer.from(text, "base64url").toString()) as Cursor;
    if (cursor.in === "native" && Number.isSafeInteger(cursor.from) && cursor.from >= 0) return cursor;
    if (cursor.in === "conversations" && (cursor.after === null || typeof cursor.after === "string"))
      return cursor;
  } catch {
    // Told below.
  }
  throw new LogError("invalid_request", "Invalid cursor. Leave it out to start from the first page.");
}

/** A session that only an agent knows, as a list shows it. */
interface NativeSession {
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
    throw new LogError("conversation_not_found", `Conversation ${id} not found`, { conversation: id });
  const native = (await ref.upstream.native?.list())?.find((session) => session.id === ref.session);
  const { agent } = ref.upstream;
  const title = native?.title ?? null;
  // In one batch: a conversation with the messages but not the session would receive them again.
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
  place: { readonly id: string; readonly cwd: string },
): Promise<readonly NativeMessage[]> {
  if (upstream.native !== null) return (await upstream.native.read(session)) ?? [];
  const conversation = parseConversationId(place.id);
  const history = await upstream.replayedHistory(session, {
    conversation,
    cwd: place.cwd,
    model: null,
    config: {},
    usedAt: null,
  });
  return history.map(({ role, text }) => ({
    id: null,
    time: null,
    message: { role, content: [{ type: "text", text }] },
  }));
}

/** The sessions that only agents know, newest first. */
async function nativeSessions(bridge: BridgeContext): Promise<readonly NativeSession[]> {
  if (bridge.holdfast.spaceId !== NATIVE_SPACE) return [];
  const linked = new Set([...(await linkedIds(bridge, bridge.holdfast)), ...(await linkedElsewhere(bridge))]);
  const lists = await Promise.all(bridge.upstreams.map((upstream) => sessionsOf(upstream)));
  return lists
    .flat()
    .filter(({ sessionId }) => !linked.has(sessionId))
    .toSorted((one, other) => (other.updatedAt ?? "").localeCompare(one.updatedAt ?? ""));
}

async function sessionsOf(upstream: HostedAgent): Promise<readonly NativeSession[]> {
  const { agent, native } = upstream;
  if (native !== null) {
    const sessions = await native.list();
    return sessions.flatMap(({ id, cwd, title, updatedAt }) =>
      cwd === null ? [] : [{ sessionId: `${agent}:${id}`, cwd, title, updatedAt }],
    );
  }
  // An agent that cannot list now must not hide the conversations that are stored here.
  const response = await upstream.listSessions().catch(() => null);
  const rows = listIn(fieldsOf(response)["sessions"] ?? null);
  return rows.flatMap(({ sessionId, cwd, title, updatedAt }) =>
    typeof sessionId !== "string" || typeof cwd !== "string"
      ? []
      : [{ sessionId: `${agent}:${sessionId}`, cwd, title: textOr(title), updatedAt: textOr(updatedAt) }],
  );
}

function textOr(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** The agent sessions that conversations of other spaces use. */
async function linkedElsewhere(bridge: BridgeContext): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const { store, spaceId } = bridge.holdfast;
  for (const other of await store.spaces()) {
    if (other === spaceId) continue;
    for (const id of await linkedIds(bridge, bridge.holdfast.inSpace(other))) ids.add(id);
  }
  return ids;
}

/** The agent sessions that conversations of a space use, by the id under which each would be listed. */
async function linkedIds(bridge: BridgeContext, holdfast: Holdfast): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const row of holdfast.listAll()) {
    ids.add(row.conversation);
    if (row.damage !== null) continue;
    for (const id of await linksOf(bridge, holdfast, row)) ids.add(id);
  }
  return ids;
}

/** The sessions a conversation has held. A log that has not grown has the links it had. */
function linksOf(
  bridge: BridgeContext,
  holdfast: Holdfast,
  { conversation, createdAt, headSeq }: Pick<ConversationRow, "conversation" | "createdAt" | "headSeq">,
): Promise<readonly string[]> {
  return bridge.listCache.links.of(holdfast, conversation).read((ids) => ids, { createdAt, headSeq });
}

const LINKS: Projection<readonly string[]> = {
  types: ["upstream_link"],
  start: () => [],
  add: (ids, entry) => (entry.type === "upstream_link" ? [...ids, `${entry.agent}:${entry.upstream}`] : ids),
};
const LOGS_MAX = 10_000;

/** What a list has read from logs; it stays valid while a log has not grown. */
export class ListCache {
  /** Where each conversation lives. It follows from its branch, not from its log. */
  readonly folders: Map<ConversationId, { readonly headSeq: number; readonly cwd: string }> = new Map();
  /** The upstream sessions that each conversation has held. */
  readonly links: LiveProjections<readonly string[]> = new LiveProjections(LINKS, { logs: LOGS_MAX });
}
