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
  about: `One line per call, in order: state, tool and arguments. "unknown" means that the call started but its
outcome is unknown: check before you repeat it. Holdfast doesn't repeat it. "not started" calls
never ran. "refused" calls were denied by a rule, by you, or because no answer was possible.
"stopped" calls ended early; what they had done by then stays. With --json these two are in
"how".`,
  options: {
    "-n, --limit N": "at most N calls (1 to 500); standard error has the cursor of the next ones",
    "--cursor CURSOR": "the calls after that cursor",
  },
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
