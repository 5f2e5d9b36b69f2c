import {
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { AriaRole, JSX } from "preact";
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

/** Rows of any height, of which only those near the screen are there. The window scrolls. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { count, estimate, keyOf, render, overscan = 6, onRange } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const shown = useRef({ first: -1, last: -1 });
  const options = {
    count,
    estimateSize: estimate,
    getItemKey: keyOf,
    overscan,
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
    >
      {list.getVirtualItems().map(({ key, index, start }: VirtualItem) => (
        <div
          key={key}
          data-index={index}
          ref={(element) => list.measureElement(element)}
          class="virtual-row"
          role={props.rowRole}
          aria-setsize={props.rowRole === "listitem" ? count : undefined}
          aria-posinset={props.rowRole === "listitem" ? index + 1 : undefined}
          style={{ transform: `translateY(${start - scrollMargin}px)` }}
        >
          {render(index)}
        </div>
      ))}
    </div>
  );
}
