import type { Effect } from "#log/projections/effects";
import { listEffects } from "#operations/records";
import type { Command } from "#edges/cli/command";
import { operationCommand } from "#edges/cli/operation-command";
import { pad, safeLine } from "#edges/cli/terminal/terminal";
import { jsonPreview } from "#transfer/views/entry-preview";

const STATES: { readonly [S in Effect["state"]]: string } = {
  done: "done",
  failed: "failed",
  unknown: "unknown",
  not_started: "not started",
};

export const effects: Command = operationCommand(listEffects, {
  usage: ["ID [--limit N] [--cursor CURSOR]"],
  about: `One line for each call, in the order of the calls: what became of it, the tool, its arguments.
"unknown" was started and nobody knows how it ended: it may have taken effect, so look before
anyone does it again; Holdfast does not. "not started" was asked for and never begun, "refused" was
not allowed, by a rule, a person or because nobody was there; "stopped" was ended in the middle,
and what it had done by then is not undone. With --json these two are in "how".

  --limit N        at most N calls (1 to 500); the cursor of the next ones is on standard error, with --json in "cursor"
  --cursor CURSOR  the calls after those`,
  examples: ["holdfast effects ID", "holdfast effects ID --json"],
  remarks: ({ effects: rows, cursor }) => [
    ...(rows.length === 0 ? ["No tool was called in this conversation."] : []),
    ...(cursor === null ? [] : [`More: --cursor ${cursor}`]),
  ],
  text: ({ effects: rows }) => {
    const width = Math.max(0, ...rows.map(({ name }) => safeLine(name).length));
    return rows
      .map(({ state, how, name, input }) =>
        [pad(how ?? STATES[state], 11), pad(safeLine(name), width), safeLine(jsonPreview(input))]
          .join("  ")
          .trimEnd(),
      )
      .join("\n");
  },
});
