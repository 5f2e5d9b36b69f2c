import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import { SIMULATED } from "#edges/cli/known-agents";
import { openChosenModel, type OpenedModel } from "./agent-flags.ts";
import { AGENT } from "./sim-session.ts";

/**
 * The model that answers in a conversation; null: the simulated agent, which answers where it is named and in what it ran, and
 * never in place of another.
 */
export async function chatModel(
  call: Call,
  conversation: Conversation | null,
  command: string,
): Promise<OpenedModel | null> {
  const named = call.flags.text("agent");
  if (named !== undefined) {
    if (named !== SIMULATED || call.flags.text("model") !== undefined)
      throw new LogError(
        "invalid_request",
        `--agent takes ${SIMULATED}, alone, not "${named}". For a model use --model, for another agent \`holdfast acp\``,
      );
    return null;
  }
  const opened = await openChosenModel(call, conversation);
  if (opened !== null) return opened;
  const agent = await agentOf(conversation);
  if (agent !== AGENT && agent !== SIMULATED) throw missingModel(command, conversation, agent);
  return null;
}

/** The agent that ran it last. */
async function agentOf(conversation: Conversation | null): Promise<string | null> {
  return (await conversation?.chain())?.at(-1)?.agent ?? null;
}

/** `command`: what was asked for, to which a model is added. */
export function missingModel(
  command: string,
  conversation: Conversation | null,
  agent: string | null = null,
): LogError {
  const who = agent === null ? "has no model" : `was run by the agent ${agent}, and has no model`;
  const what = conversation === null ? "No model is named" : `Conversation ${conversation.id} ${who}`;
  return new LogError(
    "invalid_request",
    `${what}. Name the model that answers: ${command} --model PROVIDER/NAME (for example anthropic/claude-sonnet-5-5; sim needs no key)`,
    { ...(conversation === null ? {} : { conversation: conversation.id }), agent },
  );
}
