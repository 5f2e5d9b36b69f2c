import type { JSX } from "preact";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";

const FACTS: readonly (readonly [IconName, string, string])[] = [
  ["fork", "On a fork", "The original never changes. Each model has its own fork."],
  [
    "lock",
    "No side effects by default",
    "Dry-run runs no tool that changes anything. Recorded runs no tool at all. Live asks you before every side effect.",
  ],
  ["warn", "Nothing is undone", "A replay does not undo the original’s files or external effects."],
  ["usage", "Not in the total", "The cost of a replay counts on its fork only."],
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
