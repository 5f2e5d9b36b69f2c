import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { addressOf, type Query } from "./addresses.ts";

const here = signal(new URL(window.location.href));

/** Where the UI is. All that a page shows follows from it. */
export const path: ReadonlySignal<string> = computed(() => here.value.pathname);
/** What is empty is not there. */
export const query: ReadonlySignal<URLSearchParams> = computed(
  () => new URLSearchParams([...here.value.searchParams].filter(([, value]) => value !== "")),
);

/** Goes to another address of the UI. */
export function navigate(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const next = new URL(address, here.value);
  if (next.href === here.value.href) return;
  if (replace) window.history.replaceState(null, "", next);
  else window.history.pushState(null, "", next);
  const isOtherPage = next.pathname !== here.value.pathname;
  here.value = next;
  if (isOtherPage) window.scrollTo(0, 0);
}

/** Tells later whether a person is still on this page: what was asked for here leads nobody away from elsewhere. */
export function stayed(): () => boolean {
  const from = path.value;
  return () => path.value === from;
}

/** Changes members of the query and leaves the others; null takes one away. */
export function changeQuery(change: Query, { replace = true }: { readonly replace?: boolean } = {}): void {
  const all = { ...Object.fromEntries(here.value.searchParams), ...change };
  navigate(addressOf(here.value.pathname, all), { replace });
}

/** Links within the UI are followed without loading it again; all others, and new tabs, are the browser's. */
export function followLinks(): void {
  window.addEventListener("popstate", () => {
    here.value = new URL(window.location.href);
  });
  document.addEventListener("click", (event) => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!isPlain || event.defaultPrevented || link === null || link.target !== "") return;
    const to = new URL(link.href, window.location.href);
    const isOurs = to.origin === window.location.origin && !/^\/(?:api|launch)(?:\/|$)/.test(to.pathname);
    if (!isOurs || link.hasAttribute("download") || link.getAttribute("href")?.startsWith("#") === true)
      return;
    event.preventDefault();
    navigate(to.href);
  });
}
