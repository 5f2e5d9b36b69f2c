import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import { Icon } from "../../../parts/marks/icon.tsx";

export type Agents = Api["listAgents"]["response"]["agents"];

interface Choice {
  readonly agent: string;
  readonly model?: string;
}

/** Who is to carry the next turn; the server's first unless chosen. */
export const chosenAgent: Signal<Partial<Choice>> = signal({});

/** The agents of the server, and the models of each that may be chosen. */
export function ModelChoice({ agents }: { readonly agents: Agents }): JSX.Element | null {
  const choices = agents.flatMap(({ agent, models }): Choice[] =>
    models.length === 0 ? [{ agent }] : models.map((model) => ({ agent, model })),
  );
  if (choices.length === 0) return null;
  const { agent, model } = chosenAgent.value;
  const at = choices.findIndex((one) => one.agent === agent && one.model === model);
  return (
    <label class="row-flex">
      <Icon name="model" />
      <span class="sr">Agent and model</span>
      <select
        class="choice"
        value={String(Math.max(0, at))}
        onChange={(event) => (chosenAgent.value = choices[Number(event.currentTarget.value)] ?? {})}
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
