import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";

/** What the open tab puts beside the tabs. */
export const tabTools: Signal<ComponentType | null> = signal(null);

/** Shows it for as long as the tab is open: for an effect. */
export function showTabTools(tools: ComponentType): () => void {
  tabTools.value = tools;
  return () => void (tabTools.value = null);
}
