import type { JSX } from "preact";
import { Icon } from "../../../parts/marks/icon.tsx";
import { agentFor, type Agents, type Carriers, type Choice, choiceFor, chosen } from "./agent-choice.ts";

/** The agents of the server, and the models of each that may be chosen. */
export function ModelChoice({
  conversation,
  agents,
  by,
}: {
  readonly conversation: string;
  readonly agents: Agents;
  readonly by: Carriers;
}): JSX.Element | null {
  const choices = agents.flatMap(({ agent, models }): Choice[] =>
    models.length === 0 ? [{ agent }] : models.map((model) => ({ agent, model })),
  );
  if (choices.length === 0) return null;
  const next = agentFor(conversation, agents, by)?.agent;
  const model = choiceFor(conversation, agents, by).model ?? by.model;
  const of = (one: Choice): boolean => one.agent === next;
  const exact = choices.findIndex((one) => of(one) && one.model === model);
  const at = exact === -1 ? choices.findIndex(of) : exact;
  return (
    <label class="row-flex" title="The agent and model for the next prompt">
      <Icon name="model" />
      <span class="sr">Agent and model</span>
      <select
        class="choice"
        value={String(Math.max(0, at))}
        onChange={(event) => {
          const picked = choices[Number(event.currentTarget.value)];
          if (picked !== undefined) chosen.value = new Map(chosen.value).set(conversation, picked);
        }}
      >
        {choices.map((one, place) => (
          <option key={place} value={String(place)}>
            {one.model === undefined ? one.agent : `${one.agent}, ${one.model}`}
          </option>
        ))}
      </select>
    </label>
  );
}
