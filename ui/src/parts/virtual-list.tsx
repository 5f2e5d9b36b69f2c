import {
  defaultRangeExtractor,
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { AriaAttributes, AriaRole, JSX } from "preact";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

export type WindowList = Virtualizer<Window, HTMLElement>;

interface VirtualListProps {
  readonly count: number;
  readonly estimate: (index: number) => number;
  readonly keyOf: (index: number) => string | number;
  readonly render: (index: number) => JSX.Element;
  readonly overscan?: number;
  /** Told of what is on the screen, whenever that changes. */
  readonly onRange?: (first: number, last: number) => void;
  /** Given the list itself, for whoever scrolls it. */
  readonly onReady?: (list: WindowList) => void;
  readonly class?: string;
  /** How the list is read out, and each of its rows; a list of lines unless told. */
  readonly role?: AriaRole;
  readonly rowRole?: AriaRole;
  readonly label?: string;
}

/** The place of the row that something is in. */
function placeIn(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  return row === null ? null : Number(row.dataset["index"]);
}

type Range = Parameters<typeof defaultRangeExtractor>[0];

/** The row that has the focus stays, however far away the screen is. */
function useHeldRow(count: number, keyOf: (index: number) => string | number) {
  const held = useRef<{ readonly index: number; readonly key: string | number } | null>(null);
  return {
    withHeld: (range: Range): number[] => {
      const [near, one] = [defaultRangeExtractor(range), held.current];
      const isAway = one !== null && one.index < count && !near.includes(one.index);
      return isAway && keyOf(one.index) === one.key ? [...near, one.index].toSorted((a, b) => a - b) : near;
    },
    onFocusIn: ({ target }: FocusEvent): void => {
      const index = placeIn(target);
      held.current = index === null ? null : { index, key: keyOf(index) };
    },
    onFocusOut: ({ relatedTarget }: FocusEvent): void => {
      if (placeIn(relatedTarget) === null) held.current = null;
    },
  };
}

/** Where a row stands among all of them, for whoever hears only those that are there. */
function placeTold(role: AriaRole | undefined, index: number, count: number): AriaAttributes {
  if (role === "listitem") return { "aria-setsize": count, "aria-posinset": index + 1 };
  return role === "row" ? { "aria-rowindex": index + 2 } : {}; // behind the heads
}

/** Rows of any height, of which only those near the screen are there, and the one that has the focus. The window scrolls. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { count, estimate, keyOf, render, overscan = 6, onRange } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const shown = useRef({ first: -1, last: -1 });
  const held = useHeldRow(count, keyOf);
  const options = {
    count,
    estimateSize: estimate,
    getItemKey: keyOf,
    overscan,
    rangeExtractor: held.withHeld,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    scrollMargin: ref.current?.offsetTop ?? 0,
    onChange: (list: WindowList) => {
      redraw(0);
      const [first, last] = [list.range?.startIndex ?? 0, list.range?.endIndex ?? 0];
      if (first === shown.current.first && last === shown.current.last) return;
      shown.current = { first, last };
      onRange?.(first, last);
    },
  };
  const [list] = useState(() => new Virtualizer<Window, HTMLElement>(options));
  list.setOptions(options);
  useLayoutEffect(() => {
    const end = list._didMount();
    props.onReady?.(list);
    return end;
  }, []);
  useLayoutEffect(() => list._willUpdate());
  const { scrollMargin } = list.options;
  return (
    <div
      ref={ref}
      class={`virtual ${props.class ?? ""}`}
      style={{ height: `${list.getTotalSize()}px` }}
      role={props.role}
      aria-label={props.label}
      onFocusIn={held.onFocusIn}
      onFocusOut={held.onFocusOut}
    >
      {list.getVirtualItems().map(({ key, index, start }: VirtualItem) => (
        <div
          key={key}
          data-index={index}
          ref={(element) => list.measureElement(element)}
          class="virtual-row"
          role={props.rowRole}
          {...placeTold(props.rowRole, index, count)}
          style={{ transform: `translateY(${start - scrollMargin}px)` }}
        >
          {render(index)}
        </div>
      ))}
    </div>
  );
}
