import type { JSX } from "preact";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Icon } from "../../parts/marks/icon.tsx";
import { addressOf } from "../../router/addresses.ts";

/** Says of a fork that a replay made it, and leads to the replay. */
export function ReplayMark({
  conversation,
  isReplay,
}: {
  readonly conversation: string;
  /** Null: not known yet. */
  readonly isReplay: boolean | null;
}): JSX.Element | null {
  const { value } = useLoaded(
    async (signal) =>
      isReplay ??
      (await client.listRuns({ conversation, trigger: "replay", limit: 1 }, { signal })).runs.length > 0,
    [conversation, isReplay],
  );
  if (value !== true) return null;
  return (
    <a class="tag" href={addressOf("/replay", { conversation })}>
      <Icon name="replay" />
      from a replay
    </a>
  );
}
