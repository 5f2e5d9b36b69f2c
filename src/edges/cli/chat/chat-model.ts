import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import { openChosenModel, type OpenedModel } from "./agent-flags.ts";

/** The model that answers in a conversation. `command`: the command line, to which the error adds a model. */
export async function chatModel(
  call: Call,
  conversation: Conversation | null,
  command: string,
): Promise<OpenedModel> {
  const opened = await openChosenModel(call, conversation);
  if (opened !== null) return opened;
  const agent = (await conversation?.chain())?.at(-1)?.agent ?? null;
  throw missingModel(command, conversation, agent);
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
