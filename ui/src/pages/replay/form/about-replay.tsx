import type { JSX } from "preact";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";

const FACTS: readonly (readonly [IconName, string, string])[] = [
  ["fork", "On a fork", "The original is read and never written. Each model has a fork of its own."],
  [
    "lock",
    "Tools have no effect unless you say so",
    "Dry-run runs no tool that changes anything: it says what it would do. Recorded runs no tool at all. Live asks you before every effect.",
  ],
  [
    "warn",
    "Nothing is undone",
    "Files and external effects of the original are not undone before it is replayed.",
  ],
  ["usage", "Counted apart", "What a replay costs is counted on its fork, outside of the totals."],
];

/** What a replay does, and what it does not. */
export function WhatReplayDoes(): JSX.Element {
  return (
    <aside class="about-replay" aria-label="What a replay does">
      <h2 class="caption">What a replay does</h2>
      <ul>
        {FACTS.map(([icon, what, more]) => (
          <li key={what}>
            <Icon name={icon} />
            <span>
              <b>{what}.</b> <span class="muted">{more}</span>
            </span>
          </li>
        ))}
      </ul>
    </aside>
  );
}
