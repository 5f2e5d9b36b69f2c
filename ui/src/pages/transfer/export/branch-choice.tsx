import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { useLoaded } from "../../../data/loaded.ts";
import { readTree } from "../../../data/whole-tree.ts";
import { changeQuery } from "../../../router/location.ts";

const SHOWN_MAX = 200;
const WORDS_MAX = 60;

/** Which branch a page is made of. The tree is only read where there is more than one. */
export function BranchChoice({
  conversation,
  branches,
  at,
}: {
  readonly conversation: string;
  readonly branches: number;
  readonly at: string | null;
}): JSX.Element {
  const isOne = branches < 2 && at === null;
  const { value } = useLoaded(
    async (signal) => (isOne ? null : readTree(conversation, signal)),
    [conversation, isOne],
  );
  if (isOne) return <span>the only branch</span>;
  const ends = (value?.nodes ?? []).filter(({ id, children }) => children.length === 0 || id === at);
  return (
    <select
      class="select"
      aria-label="Branch"
      value={at ?? ""}
      onChange={(event) => changeQuery({ at: event.currentTarget.value })}
    >
      <option value="">The active branch</option>
      {ends.slice(-SHOWN_MAX).map(({ id, seq, label, preview }) => (
        <option key={id} value={id}>
          {`ends at ${seq}: ${safeLine(label ?? preview).slice(0, WORDS_MAX) || id}`}
        </option>
      ))}
    </select>
  );
}
