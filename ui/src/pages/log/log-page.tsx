import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { FACT_TYPES, NODE_TYPES } from "#log/entry-types";
import { client } from "../../data/api-client.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { say } from "../../frame/said.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList, type WindowList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../router/location.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import type { PageProps } from "../pages.ts";
import { DamageNote } from "./damage-note.tsx";
import { LostRow, RecordRow } from "./record-row.tsx";
import { RecordStore } from "./record-store.ts";

const ROW_PX = 30;
const TYPES: readonly string[] = [...NODE_TYPES, ...FACT_TYPES].toSorted();

function useRecords(conversation: string, type: string | null): RecordStore | null {
  const [store, setStore] = useState<RecordStore | null>(null);
  useEffect(() => {
    const made = new RecordStore(conversation, type);
    setStore(made);
    return () => made.close();
  }, [conversation, type]);
  return store;
}

/** Leads to the record of an entry: in this log, or in that of the source it was inherited from. */
async function openNamed(conversation: string, at: string): Promise<void> {
  const found = await client.getRecord({ conversation, entry: at }).catch(() => null);
  if (found === null) return changeQuery({ at: null });
  const seq = String(found.seq);
  if (found.conversation === conversation) return changeQuery({ at: null, seq });
  say("This entry is inherited. You are in the log of its source.");
  return navigate(conversationAddress(found.conversation, "log", { seq }), { replace: true });
}

function useNamed(conversation: string, at: string | null): void {
  useEffect(() => {
    if (at !== null) void openNamed(conversation, at);
  }, [conversation, at]);
}

function TypeFilter({ type }: { readonly type: string | null }): JSX.Element {
  return (
    <label class="row-flex">
      <span class="muted">Type</span>
      <select
        class="btn"
        value={type ?? ""}
        onChange={({ currentTarget }) => changeQuery({ type: currentTarget.value, seq: null })}
      >
        <option value="">all</option>
        {TYPES.map((name) => (
          <option key={name} value={name}>
            {name.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}

function LogHead({
  store,
  type,
  conversation,
}: {
  readonly store: RecordStore;
  readonly type: string | null;
  readonly conversation: string;
}): JSX.Element {
  const { headSeq, records, next } = store.state.value;
  const origin = openedConversation(conversation)?.view.origin ?? null;
  const found = `${countText(records.size, "record")}${next === null ? "" : " so far"} of ${headSeq.toLocaleString("en-US")}`;
  return (
    <div class="block-head">
      <h2>Log</h2>
      <span class="muted">{type === null ? countText(headSeq, "record") : found}</span>
      {origin === null ? null : (
        <a class="link" href={conversationAddress(origin.conversation, "log")}>
          Inherited entries are in the log of the source
        </a>
      )}
      <span class="grow" />
      <DamageNote conversation={conversation} damage={store.state.value.damage} />
      <TypeFilter type={type} />
    </div>
  );
}

/** The seq in the address. */
function openSeq(): number | null {
  const given = Number(query.value.get("seq") ?? Number.NaN);
  return Number.isSafeInteger(given) && given > 0 ? given : null;
}

/** The place of the record that is open. */
function openPlace(store: RecordStore, seq: number | null, type: string | null): number | null {
  if (seq === null || type === null) return seq === null ? null : seq - 1;
  for (let place = 0; place < store.rows(); place++) if (store.at(place)?.seq === seq) return place;
  return null;
}

function Records({
  store,
  conversation,
  type,
}: {
  readonly store: RecordStore;
  readonly conversation: string;
  readonly type: string | null;
}): JSX.Element {
  const { headSeq, records, next: behind } = store.state.value;
  const seq = openSeq();
  const [list, setList] = useState<WindowList | null>(null);
  const place = openPlace(store, seq, type);
  const rows = store.rows();
  useEffect(() => {
    if (list === null || place === null || place >= rows) return;
    store.ensure(place, place);
    list.scrollToIndex(place, { align: "auto" });
  }, [list, place, type]);
  // What grew while it was looked at is asked for without a scroll.
  useEffect(() => {
    if (list?.range != null) store.ensure(list.range.startIndex, list.range.endIndex);
  }, [list, headSeq, behind, records.size === 0]);
  const go = (step: 1 | -1): void => {
    // Where it is by now: keys come faster than pages are drawn.
    const now = openPlace(store, openSeq(), type);
    const to = now === null ? 0 : Math.min(rows - 1, Math.max(0, now + step));
    const next = type === null ? to + 1 : (store.at(to)?.seq ?? null);
    if (next !== null) changeQuery({ seq: String(next) });
  };
  useKeys([
    onKey("nextRecord", () => go(1)),
    onKey("previousRecord", () => go(-1)),
    onKey("closeRecord", () => changeQuery({ seq: null })),
    onKey("firstRecord", () => list?.scrollToIndex(0)),
    onKey("lastRecord", () => list?.scrollToIndex(rows - 1, { align: "end" })),
  ]);
  const render = (index: number): JSX.Element => {
    const record = store.at(index);
    if (record === null)
      return type === null && store.isRead(index) ? (
        <LostRow seq={index + 1} />
      ) : (
        <div class="rec ghost-rec" />
      );
    const isOpen = record.seq === seq;
    return (
      <RecordRow
        conversation={conversation}
        record={record}
        isOpen={isOpen}
        toggle={() => changeQuery({ seq: isOpen ? null : String(record.seq) })}
      />
    );
  };
  return (
    <VirtualList
      key={`${conversation} ${type ?? ""}`}
      count={rows}
      role="list"
      rowRole="listitem"
      label="Records of the log"
      estimate={() => ROW_PX}
      keyOf={(index) => store.at(index)?.id ?? `place ${index}`}
      render={render}
      overscan={12}
      onReady={setList}
      onRange={(first, last) => store.ensure(first - 20, last + 20)}
    />
  );
}

export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const asked = query.value.get("type");
  const type = asked !== null && TYPES.includes(asked) ? asked : null;
  const store = useRecords(conversation, type);
  useNamed(conversation, query.value.get("at"));
  const state = store?.state.value;
  if (store === null || state === undefined || (!state.isLoaded && state.error === null))
    return <GhostRows />;
  return (
    <section class="block log-page" aria-label="Log">
      <LogHead store={store} type={type} conversation={conversation} />
      {state.error === null ? null : <Failure error={state.error} />}
      <div class="rec-heads" aria-hidden="true">
        <span />
        <span class="num">Seq</span>
        <span>Type</span>
        <span>Entry</span>
        <span class="num">Bytes</span>
        <span>Digest</span>
        <span>Batch</span>
        <span class="num">Written</span>
      </div>
      <Records store={store} conversation={conversation} type={type} />
      {type !== null && store.rows() === 0 ? <p class="muted">No records of this type.</p> : null}
    </section>
  );
}
