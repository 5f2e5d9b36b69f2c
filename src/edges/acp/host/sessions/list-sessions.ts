import { readSettings } from "#conversation/reading";
import { cwdOf } from "#log/projections/settings";
import type { ConversationRow } from "#store/requests";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import { linksOf, type NativeListed, nativeSessions } from "./native-history.ts";
import type { HostRequest } from "#edges/acp/host/wire/host-request";
import { BadRequest } from "#edges/acp/host/wire/rpc-error";
import { readJson } from "#log/json/read-json";

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
  const { conversations, next } = await bridge.holdfast.space.list({
    limit: PAGE,
    ...(after === null ? {} : { after }),
  });
  const rows: Row[] = [];
  for (const listed of conversations)
    if (!isForgotten(listed, bridge.clock.nowMs()) && !(await isStillborn(bridge, listed)))
      rows.push(await rowOf(bridge, listed));
  return { rows, next: next === null ? { in: "native", from: 0 } : { in: "conversations", after: next } };
}

const UNUSED_SEQ_MAX = 6; // its root, its settings, its model and a session or two

const FORGOTTEN_MS = 86_400_000; // a day

/** One that was opened a while ago and never prompted is nothing to come back to; the first prompt gives a title. */
function isForgotten({ title, headSeq, origin, updatedAt }: ConversationRow, nowMs: number): boolean {
  const unused = title === null && origin === null && headSeq <= UNUSED_SEQ_MAX;
  return unused && nowMs - Date.parse(updatedAt) > FORGOTTEN_MS;
}

/** A host was refused a session for it: it holds nothing, and nobody knows it. */
async function isStillborn(bridge: BridgeContext, listed: ConversationRow): Promise<boolean> {
  const { title, headSeq, origin, damage, conversation, summary } = listed;
  if (title !== null || origin !== null || damage !== null || headSeq > STILLBORN_SEQ_MAX) return false;
  if (bridge.conversations.get(conversation) !== null) return false;
  return (summary?.links ?? (await linksOf(bridge, bridge.holdfast, listed)).length) === 0;
}

const STILLBORN_SEQ_MAX = 2; // its root and its settings

async function rowOf(bridge: BridgeContext, listed: ConversationRow): Promise<Row> {
  const { conversation, title, updatedAt } = listed;
  const cwd = await folderOf(bridge, listed);
  return { sessionId: conversation, cwd, ...(title === null ? {} : { title }), updatedAt };
}

/** Where the conversation lives now: it may have followed its project since it was made. */
async function folderOf(bridge: BridgeContext, listed: ConversationRow): Promise<string> {
  const { conversation, headSeq, cwd, damage } = listed;
  const open = bridge.conversations.get(conversation);
  if (open !== null) return open.settings.folder(cwd) ?? "/";
  const read = bridge.listCache.folders.get(conversation);
  if (read?.headSeq === headSeq) return read.cwd;
  const { leaf } = damage === null ? await bridge.holdfast.space.head(conversation) : { leaf: null };
  const config = leaf === null ? {} : (await readSettings(bridge.holdfast.space, conversation, leaf)).config;
  const now = cwdOf(config, cwd) ?? "/";
  bridge.listCache.folders.set(conversation, { headSeq, cwd: now });
  return now;
}

function nativeRow({ sessionId, cwd, title, updatedAt }: NativeListed): Row {
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
  throw new BadRequest("That cursor is none of ours; begin again without one");
}
