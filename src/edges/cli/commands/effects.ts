import type { Entry } from "#log/entry";
import { fieldsOf } from "#log/json/json-fields";
import { detailsOf } from "#log/message-extras";
import type { Json } from "#log/json/json-text";
import type { Effect } from "#log/projections/effects";
import { answer, type Command, remark } from "#edges/cli/command";
import { findConversation } from "#edges/cli/address";
import { pad, safeLine } from "#edges/cli/terminal/terminal";
import { jsonPreview } from "#edges/cli/view/preview";

const STATES: { readonly [S in Effect["state"]]: string } = {
  done: "done",
  failed: "failed",
  unknown: "unknown",
  not_started: "not started",
};

export const effects: Command = {
  name: "effects",
  summary: "Lists what the tools of a conversation did, on every branch",
  usage: ["ID"],
  about: `One line for each call, in the order of the calls: what became of it, the tool, its arguments.
"unknown" was started and nobody knows how it ended: it may have taken effect, so look before
anyone does it again; Holdfast does not. "not started" was asked for and never begun, "refused" was
not allowed, by a rule, a person or because nobody was there; "stopped" was ended in the middle,
and what it had done by then is not undone. With --json these two are in "how".`,
  examples: ["holdfast effects ID", "holdfast effects ID --json"],
  options: {},
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const found = await conversation.effects();
    if (found.length === 0 && !call.json) return remark(call, "No tool was called in this conversation.");
    const facts = await conversation.facts(["message", "tool_intent"]);
    const [inputs, ends] = [inputsOf(facts), endsOf(facts)];
    const rows = found.map((effect) =>
      Object.assign({ input: inputOf(effect, inputs), how: ends.get(effect.outcome ?? "") ?? null }, effect),
    );
    const width = Math.max(0, ...rows.map(({ name }) => safeLine(name).length));
    return answer(call, { conversation: conversation.id, effects: rows }, () =>
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

type Inputs = ReadonlyMap<string, Json>;

function inputOf({ call, calledBy, intent }: Effect, inputs: Inputs): Json {
  return inputs.get(`${calledBy}/${call}`) ?? inputs.get(`${intent}/${call}`) ?? null;
}

/** The arguments, by the entry that made the call or says that it was begun, and the call's id. */
function inputsOf(facts: readonly Entry[]): Inputs {
  const inputs = new Map<string, Json>();
  for (const entry of facts) {
    if (entry.type === "tool_intent") inputs.set(`${entry.id}/${entry.call}`, entry.input ?? null);
    else if (entry.type === "message" && entry.message.role === "assistant")
      for (const block of entry.message.content)
        if (block.type === "toolCall") inputs.set(`${entry.id}/${block.id}`, block.input);
  }
  return inputs;
}

/** What a result says of its call beyond that it failed, by the result. */
function endsOf(facts: readonly Entry[]): ReadonlyMap<string, "refused" | "stopped"> {
  const ends = new Map<string, "refused" | "stopped">();
  for (const entry of facts) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    const { refusedBy, stopped } = fieldsOf(detailsOf(entry));
    if (typeof refusedBy === "string") ends.set(entry.id, "refused");
    else if (stopped === true) ends.set(entry.id, "stopped");
  }
  return ends;
}
