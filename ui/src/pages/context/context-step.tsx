import type { JSX } from "preact";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { Icon } from "../../parts/marks/icon.tsx";
import { changeQuery } from "../../router/location.ts";

const AROUND = 60;

/** To the context at the message before, or behind; and back to now. */
export function ContextStep({
  conversation,
  leaf,
  isNow,
}: {
  readonly conversation: string;
  readonly leaf: string;
  readonly isNow: boolean;
}): JSX.Element {
  const { value } = useLoaded(
    (signal) => client.listBranch({ conversation, at: leaf, limit: AROUND, textMax: 1 }, { signal }),
    [conversation, leaf],
  );
  const entries = value?.entries ?? [];
  const here = entries.findIndex(({ id }) => id === leaf);
  const isMessage = ({ type }: { readonly type: string }): boolean =>
    type === "message" || type === "compaction";
  const earlier = here === -1 ? undefined : entries.slice(0, here).findLast(isMessage);
  const later = here === -1 || isNow ? undefined : entries.slice(here + 1).find(isMessage);
  const go = (to: { readonly id: string } | undefined): void => {
    if (to !== undefined) changeQuery({ at: to.id, message: null });
  };
  useKeys([onKey("earlierContext", () => go(earlier)), onKey("laterContext", () => go(later))]);
  return (
    <>
      <span class="stepper" role="group" aria-label="Context at entry">
        <button
          type="button"
          aria-label="Earlier"
          disabled={earlier === undefined}
          onClick={() => go(earlier)}
        >
          <Icon name="left" />
        </button>
        <span class="at cut">{isNow ? "now" : `at ${leaf}`}</span>
        <button type="button" aria-label="Later" disabled={later === undefined} onClick={() => go(later)}>
          <Icon name="right" />
        </button>
      </span>
      {isNow ? null : (
        <button class="btn small" type="button" onClick={() => changeQuery({ at: null, message: null })}>
          Now
        </button>
      )}
    </>
  );
}
