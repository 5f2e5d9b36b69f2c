import { randomUUID } from "node:crypto";
import type { AppendResult } from "#log/batch";
import type { ConversationId } from "#log/ids";
import type { Head } from "#log/lineage/head";
import { changeHead } from "#log/plans/head-change";
import { linkOf, resultOf } from "#log/plans/plan-append";
import { type Existing, type ForkRequest, forkStart, planStart, type Start } from "#log/plans/plan-start";
import type { CreateRequest, HeadView } from "#store/requests";
import { sha256 } from "#store/sha256";
import { typed } from "#stores/postgres/db";
import { conversationNotFound } from "#store/lookup-errors";
import { idBusy, isLost } from "#stores/postgres/postgres-errors";
import { START, START_TYPES } from "#stores/postgres/tables/append-sql";
import { NOW_MS, READ_ENTRY } from "#stores/postgres/tables/read-sql";
import {
  headView,
  type Part,
  partsOf,
  placeIn,
  readState,
  startRow,
  type State,
  stateIn,
  storedPart,
  escapeText,
} from "#stores/postgres/tables/rows";
import { idsOf, type WriteContext } from "./append.ts";
import { batchValues } from "./batch.ts";

const ROUNDS_MAX = 6;
const STATEMENT = typed(START, START_TYPES);
const EXISTING = `select row_to_json(c)::text, k.from_seq, k.to_seq, k.last_id, k.digest, ${NOW_MS} from @.conversations c
  left join @.keys k on k.space = c.space and k.conversation = c.id and k.key = $3::text where c.space = $1 and c.id = $2`;

/** The source of a fork, which must still be the one that was looked at when the fork is written. */
interface ForkSource {
  readonly conversation: ConversationId;
  readonly born: string;
}

interface Started {
  readonly result: AppendResult;
  /** Null where the same request had begun the log before. */
  readonly head: Head | null;
}

export async function createLog(writing: WriteContext, request: CreateRequest): Promise<AppendResult> {
  const start = { conversation: request.conversation, origin: null, batch: request, previous: "" };
  const started = await startLog(writing, start, null);
  if (started === null) throw idBusy(request.conversation);
  return started.result;
}

/** One row and one entry, whatever the size of the source. */
export async function forkLog(
  writing: WriteContext,
  request: ForkRequest,
): Promise<HeadView & { readonly deduped: boolean }> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const from = await sourceOf(writing, request);
    const { born, start } = from;
    const started = await startLog(writing, start, { conversation: request.source, born });
    // The source was erased, or created again, since it was read.
    if (started === null) continue;
    const { deduped } = started.result;
    if (started.head !== null) return { ...started.head, lease: null, deduped };
    const made = await existing(writing, request.conversation, null);
    if (made === null || !made.state.listed) throw conversationNotFound(request.conversation);
    return { ...headView(made.state, writing.nowMs() ?? made.nowMs), deduped };
  }
  throw idBusy(request.conversation);
}

async function sourceOf(
  { db, space }: WriteContext,
  request: ForkRequest,
): Promise<{ readonly born: string; readonly start: ReturnType<typeof forkStart> }> {
  const { source } = request;
  // Where the leaf is must be of the same moment as the head that the fork is bounded by.
  const parts = await db.call<Part>(READ_ENTRY, space, source, request.entry ?? null);
  const state = stateIn(parts);
  if (state === null) throw conversationNotFound(source);
  const [part] = partsOf(parts, "node");
  const node = part && storedPart(part);
  // Whether it is a tip does not matter: a fork opens a segment of its own.
  const position = part && {
    id: node?.id ?? "",
    place: part[10] === null ? null : placeIn(part),
    tip: false,
  };
  return { born: state.born, start: forkStart(sha256, { head: state.head, position, node }, request) };
}

/** Writes the first batch of a log, or finds that the same request wrote it before; null where a fork's source is gone. */
async function startLog(
  writing: WriteContext,
  start: Start,
  source: ForkSource | null,
): Promise<Started | null> {
  const { db, space, heads } = writing;
  const { conversation, batch } = start;
  const born = randomUUID();
  let there: Existence | null = null;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (there?.state.born === born)
      return { result: startedResult(there.state, batch), head: there.state.head };
    const planned = planStart(there, start);
    if (planned.kind === "refused") throw planned.error;
    if (planned.kind === "deduped")
      return {
        result: { ...planned.result, ids: await idsOf(writing, conversation, planned.result) },
        head: null,
      };
    const { empty, plan } = planned;
    const head = changeHead(
      empty,
      plan.change,
      linkOf(sha256, plan, { headSeq: 0, previous: start.previous }),
    );
    try {
      const [row] = await db.write<[string]>(
        STATEMENT,
        ...batchValues({ space, conversation, head: empty, plan, batch }),
        JSON.stringify(startRow(space, born, head)),
        source?.conversation ?? null,
        source?.born ?? null,
      );
      if (row !== undefined) {
        const state = readState(row[0]);
        heads.keep(space, state);
        heads.keepEnd(space, state);
        writing.onWrite(conversation, []);
        return { result: resultOf(plan, head), head };
      }
    } catch (error) {
      if (!isLost(error)) throw error;
    }
    there = await existing(writing, conversation, batch.key);
    if (there === null && source !== null) return null;
  }
  return null;
}

type Existence = Existing & { readonly state: State; readonly nowMs: number };

async function existing(
  { db, space }: WriteContext,
  conversation: ConversationId,
  key: string | null,
): Promise<Existence | null> {
  const [row] = await db.read<[string, number | null, number | null, string | null, string | null, number]>(
    EXISTING,
    space,
    conversation,
    key === null ? null : escapeText(key),
  );
  if (row === undefined) return null;
  const [text, fromSeq, toSeq, lastId, digest, nowMs] = row;
  const state = readState(text);
  const seen =
    fromSeq === null ? null : { fromSeq, toSeq: toSeq ?? 0, lastId: lastId ?? "", digest: digest ?? "" };
  return { state, listed: state.listed, ownerLink: state.head.ownerLink, seen, nowMs };
}

/** The log that this call began before its connection was cut. */
function startedResult({ head }: State, { drafts }: Start["batch"]): AppendResult {
  const ids = drafts.map(({ id }) => id);
  const { ownerLink } = head;
  return {
    fromSeq: 1,
    toSeq: ids.length,
    lastId: ids.at(-1) ?? "",
    ids,
    deduped: false,
    differs: false,
    ownerLink,
  };
}
