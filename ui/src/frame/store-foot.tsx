import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Health } from "#edges/http/client/views";
import { client, connection } from "../data/api-client.ts";
import { Icon } from "../parts/marks/icon.tsx";

/** What the server says of itself: its agents, and whether it may be written to. */
export const health: Signal<Health | null> = signal(null);

/** Whether this browser may write: what would be refused is not offered. */
export const mayWrite: ReadonlySignal<boolean> = computed(
  () => health.value !== null && !health.value.readOnly && health.value.rights !== "read",
);

const PROBE_MS = 1_500;

async function ask(): Promise<void> {
  const found = await client.health().catch(() => null);
  if (found !== null) health.value = found;
}

/** While nobody answers, or this browser is not known, somebody asks: what was being read stays on the page. */
export function useHealth(): void {
  useEffect(() => void ask(), []);
  useEffect(() => {
    if (connection.value === "live") return undefined;
    const timer = setInterval(() => void ask(), PROBE_MS);
    return () => clearInterval(timer);
  }, [connection.value]);
}

export function StoreFoot(): JSX.Element | null {
  const found = health.value;
  if (connection.value === "lost")
    return (
      <span class="badge unknown">
        <Icon name="warn" /> The server is not responding
      </span>
    );
  if (found === null) return null;
  return (
    <>
      <span class="fine">
        <Icon name="check" />
        {found.readOnly ? "Connected, read-only" : "Connected"}
      </span>
      <span class="cut">
        space {found.space} · {found.version}
      </span>
    </>
  );
}
