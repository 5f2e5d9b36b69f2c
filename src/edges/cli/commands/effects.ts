import type { Effect } from "#log/projections/effects";
import { answer, type Command, remark } from "#edges/cli/command";
import { findConversation } from "#edges/cli/address";
import { pad, safeLine } from "#edges/cli/terminal/terminal";
import { readEffectRows } from "#transfer/shown/effect-rows";
import { jsonPreview } from "#transfer/shown/entry-preview";

const STATES: { readonly [S in Effect["state"]]: string } = {
  done: "done",
  failed: "failed",
  unknown: "unknown",
  not_started: "not started",
};

export const effects: Command = {
  name: "effects",
  summary: "Lists what the tools of a conversation did, on every branch",
  usage: ["ID [--limit N] [--cursor CURSOR]"],
  about: `One line for each call, in the order of the calls: what became of it, the tool, its arguments.
"unknown" was started and nobody knows how it ended: it may have taken effect, so look before
anyone does it again; Holdfast does not. "not started" was asked for and never begun, "refused" was
not allowed, by a rule, a person or because nobody was there; "stopped" was ended in the middle,
and what it had done by then is not undone. With --json these two are in "how".

  --limit N        at most N calls; the cursor of the next ones is on standard error, with --json in "cursor"
  --cursor CURSOR  the calls after those`,
  examples: ["holdfast effects ID", "holdfast effects ID --json"],
  options: { limit: { type: "string" }, cursor: { type: "string" } },
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const [limit, from] = [call.flags.count("limit"), call.flags.text("cursor")];
    const { effects: rows, cursor } = await readEffectRows(conversation, {
      ...(limit === undefined ? {} : { limit }),
      ...(from === undefined ? {} : { cursor: from }),
    });
    if (rows.length === 0 && !call.json) return remark(call, "No tool was called in this conversation.");
    const width = Math.max(0, ...rows.map(({ name }) => safeLine(name).length));
    if (cursor !== null && !call.json) await remark(call, `More: --cursor ${cursor}`);
    return answer(call, { conversation: conversation.id, effects: rows, cursor }, () =>
      rows
        .map(({ state, how, name, input }) =>
          [pad(how ?? STATES[state], 11), pad(safeLine(name), width), safeLine(jsonPreview(input))]
            .join("  ")
            .trimEnd(),
        )
        .join("\n"),
    );
  },
};
