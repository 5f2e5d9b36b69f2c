import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../../frame/keys.ts";
import { copyText } from "../../../parts/copy-button.tsx";
import { countText } from "../../../parts/numbers.ts";
import { VirtualList, type WindowList } from "../../../parts/virtual-list.tsx";
import { changeQuery } from "../../../router/location.ts";
import { forkAt, setDraft } from "../entry/acts.ts";
import { type Doing, EntryRow } from "../entry/entry-row.tsx";
import { goToSibling } from "../entry/sibling-switch.tsx";
import { placeOf } from "./branch-nodes.ts";
import { follows, scrollToEnd, useFollowing } from "./following.ts";
import { TailRow } from "./tail-row.tsx";
import { rowAt, type ThreadRow } from "./thread-rows.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ThreadStore } from "./thread-store.ts";

export interface ThreadProps {
  readonly store: ThreadStore;
  readonly conversation: string;
  readonly at: string | null;
  readonly view: "normal" | "focused" | "raw";
}

const ESTIMATE_PX = 84;
const VERIFY = "Did that go through? Look before you do it again.";

/** The next place in a direction that is a message, or a person's where that is wanted. */
function nextMessage(state: ThreadState, from: number, step: 1 | -1, isPrompt: boolean): string | null {
  const length = state.branch?.length ?? 0;
  for (let at = from + step; at >= 0 && at < length; at += step) {
    const entry = state.branch?.nodes.get(at);
    if (entry === undefined) return null;
    const role = entry.type === "message" ? entry.message.role : null;
    if (isPrompt ? role === "user" : role !== null) return entry.id;
  }
  return null;
}

function useThreadKeys(
  { conversation, at, store }: ThreadProps,
  selected: ThreadRow | null,
  setDoing: (doing: Doing) => void,
): void {
  const state = store.state.value;
  const last = (state.branch?.length ?? 1) - 1;
  const from = selected?.place ?? last + 1;
  const go = (step: 1 | -1, isPrompt: boolean): void => {
    const next = nextMessage(state, from, step, isPrompt);
    if (next !== null) changeQuery({ at: next });
  };
  const sibling = (step: number): void => {
    if (selected !== null) goToSibling(state.siblings, selected.siblings, selected.entry.id, step);
  };
  useKeys([
    { keys: "j", does: "Next message", run: () => go(1, false) },
    { keys: "k", does: "Previous message", run: () => go(-1, false) },
    { keys: "J", does: "Next prompt", run: () => go(1, true) },
    { keys: "K", does: "Previous prompt", run: () => go(-1, true) },
    { keys: "alt+ArrowUp", does: "Previous branch here", run: () => sibling(-1) },
    { keys: "alt+ArrowDown", does: "Next branch here", run: () => sibling(1) },
    {
      keys: "f",
      does: "Fork at the selected message",
      run: () => selected && void forkAt(conversation, selected.entry),
    },
    { keys: "e", does: "Edit and resubmit the selected prompt", run: () => setDoing("edit") },
    { keys: "s", does: "Label the selected message", run: () => setDoing("label") },
    {
      keys: "y",
      does: "Copy its address",
      run: () => void copyText(`${conversation}${at === null ? "" : `@${at}`}`),
    },
    { keys: "g l", does: "To the end, and follow", run: toEnd },
  ]);
}

function toEnd(): void {
  changeQuery({ at: null });
  follows.value = true;
  scrollToEnd();
}

function NewPill({ count }: { readonly count: number }): JSX.Element | null {
  if (follows.value) return null;
  return (
    <button class="btn small new-pill" type="button" onClick={toEnd}>
      ↓ {count > 0 ? countText(count, "new entry", "new entries") : "To the end"}
    </button>
  );
}

/** How many came since the end was let go of. */
function useArrived(length: number): number {
  const seen = useRef(length);
  if (follows.value) seen.current = length;
  return Math.max(0, length - seen.current);
}

const SETTLE_MS = 1_500;

/** Brings an entry to the middle of the screen, and keeps it there while rows around it come and grow, until a person scrolls. */
function useScrollTo(list: WindowList | null, place: number | null, at: string | null): void {
  const goal = useRef<{ readonly at: string; readonly untilMs: number } | null>(null);
  useEffect(() => {
    const letGo = (): void => void (goal.current = goal.current && { ...goal.current, untilMs: 0 });
    for (const type of ["wheel", "touchmove", "mousedown"])
      window.addEventListener(type, letGo, { passive: true });
    return () => {
      for (const type of ["wheel", "touchmove", "mousedown"]) window.removeEventListener(type, letGo);
    };
  }, []);
  useLayoutEffect(() => {
    if (at === null) goal.current = null;
    if (list === null || place === null || at === null) return;
    if (goal.current?.at !== at) goal.current = { at, untilMs: performance.now() + SETTLE_MS };
    if (performance.now() > goal.current.untilMs) return;
    follows.value = false;
    list.scrollToIndex(place, { align: "center" });
  });
}

export function Thread(props: ThreadProps): JSX.Element {
  const { store, conversation, at, view } = props;
  const state = store.state.value;
  const { branch } = state;
  const length = branch?.length ?? 0;
  const [list, setList] = useState<WindowList | null>(null);
  const [doing, setDoing] = useState<Doing>(null);
  const place = at === null || branch === null ? null : placeOf(branch, at);
  const selected = place === null ? null : rowAt(state, place);
  useFollowing(at !== null);
  useScrollTo(list, place, at);
  useThreadKeys(props, selected, setDoing);
  useEffect(() => setDoing(null), [at]);
  useLayoutEffect(() => {
    if (follows.value) scrollToEnd();
  });
  const arrived = useArrived(length);
  const render = (index: number): JSX.Element => {
    if (index === length) return <TailRow state={state} conversation={conversation} />;
    const row = rowAt(state, index);
    if (row === null) return <div class="entry ghost-entry" />;
    const isSelected = row.entry.id === at;
    return (
      <EntryRow
        row={row}
        conversation={conversation}
        links={state.links}
        siblings={state.siblings}
        view={view}
        isSelected={isSelected}
        doing={isSelected ? doing : null}
        setDoing={(next) => {
          changeQuery({ at: row.entry.id });
          requestAnimationFrame(() => setDoing(next));
        }}
        verify={() => setDraft(conversation, VERIFY)}
      />
    );
  };
  return (
    <div class="thread">
      <VirtualList
        count={length + 1}
        role="list"
        rowRole="listitem"
        label="Entries"
        estimate={() => ESTIMATE_PX}
        keyOf={(index) => branch?.nodes.get(index)?.id ?? `place ${index}`}
        render={render}
        onReady={setList}
        onRange={(first, last) => store.ensure(first - 20, last + 20)}
      />
      <NewPill count={arrived} />
    </div>
  );
}
