import type { ToolResultMessage } from "#log/message";
import { fieldsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** What a result makes of the conversation's state; the same value where it changes nothing. */
export type StateRule = (state: Json, result: ToolResultMessage) => Json;

/** A result carries the members that change; null takes one away. What failed changes nothing. */
export const applyStateUpdate: StateRule = (state, { details, isError }) => {
  const update = fieldsIn(fieldsIn(details)?.["stateUpdate"]);
  if (update === null || isError === true) return state;
  const members: { [name: string]: Json } = { ...fieldsIn(state) };
  for (const [name, value] of Object.entries(update)) {
    if (value === null) delete members[name];
    else members[name] = value;
  }
  return members;
};

/** The state after these results, in their order: what the stored one has to equal. */
export function stateAfter(
  before: Json,
  results: Iterable<ToolResultMessage>,
  rule: StateRule = applyStateUpdate,
): Json {
  let state = before;
  for (const result of results) state = rule(state, result);
  return state;
}
