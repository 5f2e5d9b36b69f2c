import type { ConversationId } from "#log/ids";
import { type Ownership, planAcquire, planRenew } from "#log/plans/lease";
import type { AcquireRequest, HeadView, RenewRequest } from "#store/requests";
import { idBusy, isLost } from "#stores/postgres/postgres-errors";
import { withSync } from "#stores/postgres/db";
import { headView, readState, type State, escapeText } from "#stores/postgres/tables/rows";
import type { WriteContext } from "./append.ts";
import { lookUp } from "./lookup.ts";
import { checkEnd } from "./log-end.ts";

const ROUNDS_MAX = 24;

/** `$3`–`$6` as it must be; `$7` on as it will be. The lease runs by the clock of the database. */
const OWN = `${withSync("$10::boolean")}
update @.conversations c set epoch = $7::int8, lease_writer = $8::text,
  lease_until = coalesce($11::int8, (extract(epoch from clock_timestamp()) * 1000)::int8) + $9::int8
where c.space = $1 and c.id = $2 and c.listed and c.born = $3::text and c.epoch = $4::int8
  and c.lease_writer is not distinct from $5::text and c.lease_until is not distinct from $6::int8 and exists (select from sync)
returning row_to_json(c)::text`;

type Decide = (state: State, nowMs: number) => Ownership;

export async function acquireLog(writing: WriteContext, request: AcquireRequest): Promise<HeadView> {
  const decide: Decide = ({ head, lease }, nowMs) => planAcquire(head, lease, { ...request, nowMs });
  const end = writing.heads.end(writing.space, request.conversation);
  const { state, view } = await own(writing, request, { decide, relaxed: false });
  try {
    await checkEnd(writing, state, end);
  } catch (error) {
    await renewLog(writing, { conversation: request.conversation, epoch: view.epoch, leaseMs: 0 });
    throw error;
  }
  return view;
}

export async function renewLog(writing: WriteContext, request: RenewRequest): Promise<HeadView> {
  const decide: Decide = ({ head, lease }, nowMs) => planRenew(head, lease, { ...request, nowMs });
  return (await own(writing, request, { decide, relaxed: true })).view;
}

/** Decided from the cache, done only if it still holds. Only the database's own answer rejects a call. */
async function own(
  writing: WriteContext,
  request: { readonly conversation: ConversationId; readonly leaseMs: number },
  { decide, relaxed }: { readonly decide: Decide; readonly relaxed: boolean },
): Promise<{ readonly state: State; readonly view: HeadView }> {
  const { db, space, heads } = writing;
  const { conversation, leaseMs } = request;
  let state = heads.get(space, conversation);
  let nowMs = 0;
  let fresh = false;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (state === undefined) {
      const looked = await lookUp(
        db,
        space,
        { conversation, key: null, drafts: [], doubted: false },
        writing.nowMs(),
      );
      ({ state, nowMs } = looked);
      fresh = true;
    }
    const decided = attempt(() => decide(state as State, nowMs));
    if (decided === null) {
      if (fresh) decide(state, nowMs);
      state = undefined;
      continue;
    }
    const { epoch, lease } = decided;
    const before = state.lease;
    try {
      const [row] = await db.write<[string]>(
        OWN,
        space,
        conversation,
        state.born,
        state.head.epoch,
        before === null ? null : escapeText(before.writer),
        before?.untilMs ?? null,
        epoch,
        lease === null ? null : escapeText(lease.writer),
        lease === null ? null : leaseMs,
        relaxed,
        writing.nowMs(),
      );
      if (row !== undefined) {
        const owned = readState(row[0]);
        heads.keep(space, owned);
        return { state: owned, view: headView(owned, (owned.lease?.untilMs ?? 0) - leaseMs) };
      }
    } catch (error) {
      // An epoch that no caller received does no harm: the next one is taken.
      if (!isLost(error)) throw error;
    }
    heads.forget(space, conversation);
    state = undefined;
  }
  throw idBusy(conversation);
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
