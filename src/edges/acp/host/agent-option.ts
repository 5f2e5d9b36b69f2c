import { listIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** The option that says which agent carries the conversation; there is none where there is no choice. */
export const AGENT_OPTION = "holdfast.agent";
export const AGENT_COMMAND = "agent";

export function agentOption(names: readonly string[], current: string): Json | null {
  if (names.length < 2) return null;
  return {
    id: AGENT_OPTION,
    name: "Agent",
    description: "Which agent carries this conversation on",
    category: "_holdfast_agent",
    type: "select",
    currentValue: current,
    options: names.map((name) => ({ value: name, name })),
  };
}

export function agentCommand(names: readonly string[]): Json | null {
  if (names.length < 2) return null;
  return {
    name: AGENT_COMMAND,
    description: "Go on with another agent",
    input: { hint: names.join(" | ") },
  };
}

/** The options of a session with ours among them. */
export function withAgentOption(options: Json, own: Json | null): Json {
  return own === null ? options : [...listIn(options), own];
}
