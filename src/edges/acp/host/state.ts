import type { Json } from "#log/json/json-text";
import { readableAt } from "#edges/acp/wire/spans";
import { spliceWithin } from "#edges/acp/wire/splice";
import type { Desk } from "./desk.ts";
import type { Floor, Ready } from "./floor.ts";
import { rewriteIds } from "./wire/rewrite.ts";
import { fieldsOf, listIn } from "#log/json/json-fields";

/** The option that says which agent carries the conversation; there is none where there is no choice. */
export const AGENT_OPTION = "holdfast.agent";
export const AGENT_COMMAND = "agent";

export function agentOption(floor: Floor, desk: Desk): Json | null {
  if (floor.agents.length < 2) return null;
  return {
    id: AGENT_OPTION,
    name: "Agent",
    description: "Which agent carries this conversation on",
    category: "_holdfast_agent",
    type: "select",
    currentValue: floor.agentOf(desk).agent,
    options: floor.agents.map(({ agent }) => ({ value: agent, name: agent })),
  };
}

export function agentCommand(floor: Floor): Json | null {
  if (floor.agents.length < 2) return null;
  const names = floor.agents.map(({ agent }) => agent).join(" | ");
  return { name: AGENT_COMMAND, description: "Go on with another agent", input: { hint: names } };
}

/** The options of a session with ours among them. */
export function withAgentOption(floor: Floor, desk: Desk, options: Json): Json {
  const own = agentOption(floor, desk);
  return own === null ? options : [...listIn(options), own];
}

/** The methods whose result says what the session is called; in the others the host has said it. */
const NAMING: ReadonlySet<string> = new Set(["session/new", "session/fork"]);

/**
 * The result for a host that opened a conversation. A new session's own result passes as it came, but for its id; one
 * whose settings were replayed, or that has more to say, is made from it.
 */
export function openResult(
  floor: Floor,
  desk: Desk,
  ready: Ready,
  asked: { readonly method: string; readonly word: { readonly [name: string]: Json } },
): string {
  const { method, word } = asked;
  const { session, connected } = ready;
  const { opened } = session;
  const result = opened === null || opened.result === null ? null : readableAt(opened.bytes, opened.result);
  const began = fieldsOf(result);
  const own = agentOption(floor, desk);
  const same =
    JSON.stringify([began["modes"] ?? null, began["configOptions"] ?? null]) ===
    JSON.stringify([session.standing.modes, session.standing.options]);
  if (
    method === "session/new" &&
    own === null &&
    same &&
    Object.keys(word).length === 0 &&
    connected.reason === "first" &&
    opened?.result
  )
    return spliceWithin(opened.bytes, opened.result, rewriteIds(opened, session.id, desk.id));
  const { sessionId: _, _meta, ...rest } = began;
  const modes = session.standing.modes === null ? {} : { modes: session.standing.modes };
  const options = withAgentOption(floor, desk, session.standing.options);
  const { agent, fidelity } = connected;
  return JSON.stringify({
    ...(NAMING.has(method) ? { sessionId: desk.id } : {}),
    ...rest,
    ...modes,
    ...(options === null ? {} : { configOptions: options }),
    _meta: { ...fieldsOf(_meta), holdfast: { agent, fidelity, ...word } },
  });
}
