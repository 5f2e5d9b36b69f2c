import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { lazy } from "../parts/lazy.tsx";

type Overlay = "palette" | "keys" | "more";

const overlay: Signal<Overlay | null> = signal(null);

/** Opens what lies over every page. */
export function openOverlay(which: Overlay): void {
  overlay.value = which;
}

const Palette = lazy(async () => (await import("./palette.tsx")).Palette);
const MorePages = lazy(async () => (await import("./narrow/more-pages.tsx")).MorePages);
const KeyHelp = lazy(async () => (await import("./key-help.tsx")).KeyHelp);

export function Overlays(): JSX.Element | null {
  const close = (): void => void (overlay.value = null);
  if (overlay.value === null) return null;
  if (overlay.value === "more") return <MorePages close={close} />;
  return overlay.value === "palette" ? <Palette close={close} /> : <KeyHelp close={close} />;
}
