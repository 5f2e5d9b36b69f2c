import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./marks/icon.tsx";

export interface MenuItem {
  readonly name: string;
  readonly icon: IconName;
  /** What it does, or where it leads. */
  readonly act: (() => void) | string;
  /** As it is printed on a keyboard. */
  readonly keys?: string;
  /** Why it cannot be done here. */
  readonly barred?: string;
  readonly isDanger?: boolean;
}

const EDGE_PX = 8;

/** Below the button, or above it where there is no room; never beyond the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + 4;
  const top = below + height > window.innerHeight - EDGE_PX ? at.top - height - 4 : below;
  const left = Math.min(at.right - width, window.innerWidth - width - EDGE_PX);
  menu.style.top = `${Math.max(EDGE_PX, top)}px`;
  menu.style.left = `${Math.max(EDGE_PX, left)}px`;
}

function moveFocus(event: KeyboardEvent, menu: HTMLElement): void {
  const items = [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  const at = items.findIndex((item) => item === document.activeElement);
  const next = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (event.key === "Tab") menu.hidePopover();
  if (next === undefined) return;
  event.preventDefault();
  items[next]?.focus();
}

function Item({ item, close }: { readonly item: MenuItem; readonly close: () => void }): JSX.Element {
  const { name, icon, act, keys, barred, isDanger = false } = item;
  const shared = {
    class: isDanger ? "menu-row danger" : "menu-row",
    role: "menuitem",
    tabIndex: -1,
    ...(barred === undefined ? {} : { "aria-disabled": true, title: barred }),
  } as const;
  const inside = (
    <>
      <Icon name={icon} />
      <span class="grow">{name}</span>
      {keys === undefined ? null : <kbd aria-hidden="true">{keys}</kbd>}
    </>
  );
  if (typeof act === "string")
    return (
      <a {...shared} href={act} onClick={close}>
        {inside}
      </a>
    );
  return (
    <button
      {...shared}
      type="button"
      onClick={() => {
        if (barred !== undefined) return;
        close();
        act();
      }}
    >
      {inside}
    </button>
  );
}

/** Actions with words behind one button. Escape and a click beside it close it; arrows move in it. */
export function Menu({
  label,
  items,
  small = false,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly small?: boolean;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const close = (): void => {
    menu.current?.hidePopover();
    button.current?.focus({ preventScroll: true });
  };
  // Its rows are only drawn while it is open.
  useLayoutEffect(() => {
    if (!isOpen || menu.current === null || button.current === null) return;
    place(menu.current, button.current);
    menu.current.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
  }, [isOpen]);
  return (
    <>
      <button
        class={small ? "btn quiet icon small" : "btn icon"}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        ref={button}
        onClick={() => menu.current?.togglePopover()}
      >
        <Icon name="more" />
      </button>
      <div
        class="menu-list"
        role="menu"
        aria-label={label}
        popover="auto"
        ref={menu}
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={(event) => moveFocus(event, event.currentTarget)}
      >
        {isOpen ? items.map((item) => <Item key={item.name} item={item} close={close} />) : null}
      </div>
    </>
  );
}
