import type { JSX } from "preact";
import { STATES } from "#operations/text";
import type { Status } from "./mark-data.ts";

const SAID: Readonly<Record<Exclude<Status, "quiet">, string>> = {
  working: STATES.working.description,
  waiting: STATES.waiting.description,
  parked: "Paused",
  unclean: "Interrupted or failed",
  agent_only: "Not imported yet",
};

function shape(status: Exclude<Status, "quiet">): JSX.Element {
  if (status === "working")
    return (
      <>
        <circle class="live" cx="6" cy="6" r="3" />
        <circle class="halo" cx="6" cy="6" r="5" />
      </>
    );
  if (status === "waiting") return <circle class="wait" cx="6" cy="6" r="3.5" />;
  if (status === "parked") return <path class="park" d="M4.25 3v6M7.75 3v6" />;
  if (status === "unclean") return <path class="open" d="M6 1.5 10.5 6 6 10.5 1.5 6z" />;
  return <circle class="only" cx="6" cy="6" r="4" />;
}

export function StatusDot({ status }: { readonly status: Status }): JSX.Element | null {
  if (status === "quiet") return null;
  return (
    <svg class="dot" viewBox="0 0 12 12" role="img" aria-label={SAID[status]}>
      {shape(status)}
    </svg>
  );
}
