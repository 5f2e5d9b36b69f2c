import type { Conversation } from "#conversation/conversation";
import { type EffectsRequest, readEffects } from "#conversation/ledger";
import type { Entry } from "#log/entry";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { detailsOf } from "#log/message";
import type { Effect } from "#log/projections/effects";

/** An effect with what the call was given, and how it came to its end where that is more than that it failed. */
export interface EffectRow extends Effect {
  readonly input: Json;
  readonly how: "refused" | "stopped" | null;
}

/** What the tools of a conversation did, in the order of the calls: all of it, or a page. */
export async function readEffectRows(
  conversation: Conversation,
  request: EffectsRequest = {},
): Promise<{ readonly effects: readonly EffectRow[]; readonly cursor: string | null }> {
  const facts: Entry[] = [];
  const keep = (entry: Entry): unknown => facts.push(entry);
  const { effects, cursor } = await readEffects(conversation, request, keep);
  const [inputs, ends] = [inputsOf(facts), endsOf(facts)];
  const rows = effects.map((effect) =>
    Object.assign({ input: inputOf(effect, inputs), how: ends.get(effect.outcome ?? "") ?? null }, effect),
  );
  return { effects: rows, cursor };
}

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
