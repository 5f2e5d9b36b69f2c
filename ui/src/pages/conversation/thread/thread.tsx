import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { countText } from "../../../parts/numbers.ts";
import { VirtualList, type WindowList } from "../../../parts/virtual-list.tsx";
import { changeQuery } from "../../../router/location.ts";
import { setDraft } from "../../../data/drafts.ts";
import { type Doing, EntryRow } from "../entry/entry-row.tsx";
import { focusEntry } from "./focus-entry.ts";
import { follows, scrollToEnd, useFollowing } from "./following.ts";
import { TailRow } from "./tail-row.tsx";
import { toEnd, useThreadKeys } from "./thread-keys.ts";
import { lengthOf, placeOf } from "./thread-state.ts";
import type { ThreadStore } from "./thread-store.ts";

export interface ThreadProps {
  readonly store: ThreadStore;
  readonly conversation: string;
  readonly at: string | null;
  readonly view: "normal" | "focused" | "raw";
  /** Whoever carried the open turn is gone. */
  readonly isLeft: boolean;
}

const ESTIMATE_PX = 84;
const VERIFY = "Did that succeed? Check before you do it again.";

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
  const length = lengthOf(state);
  const [list, setList] = useState<WindowList | null>(null);
  // With the entry it is done at: another one that is selected has nothing to do with it.
  const [doing, setDoing] = useState<{ readonly at: string; readonly what: Doing } | null>(null);
  const place = at === null ? null : placeOf(state, at);
  const selected = place === null ? null : (state.rows.get(place) ?? null);
  useFollowing(at !== null);
  useScrollTo(list, place, at);
  useThreadKeys({
    conversation,
    state,
    selected,
    setDoing: (what) => setDoing(at === null ? null : { at, what }),
  });
  useLayoutEffect(() => (at === null || place === null ? undefined : focusEntry(at)), [at, place === null]);
  useLayoutEffect(() => {
    if (follows.value) scrollToEnd();
  });
  const arrived = useArrived(length);
  const render = (index: number): JSX.Element => {
    if (index === length) return <TailRow state={state} conversation={conversation} isLeft={props.isLeft} />;
    const row = state.rows.get(index);
    if (row === undefined) return <div class="entry ghost-entry" />;
    const isSelected = row.entry.id === at;
    return (
      <EntryRow
        row={row}
        conversation={conversation}
        isSent={index >= (state.page?.sentFrom ?? 0)}
        view={view}
        isSelected={isSelected}
        doing={isSelected && doing?.at === row.entry.id ? doing.what : null}
        setDoing={(what) => {
          // What is over selects nothing: other words in its place have led away from it.
          if (what !== null) changeQuery({ at: row.entry.id });
          setDoing((was) => {
            if (what !== null) return { at: row.entry.id, what };
            return was?.at === row.entry.id ? null : was;
          });
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
        keyOf={(index) => state.rows.get(index)?.entry.id ?? `place ${index}`}
        render={render}
        onReady={setList}
        onRange={(first, last) => store.ensure(first, last)}
      />
      <NewPill count={arrived} />
    </div>
  );
}
