import { isLogError } from "#log/errors";
import { findConversation } from "#edges/cli/address";
import type { Command } from "#edges/cli/command";
import { AGENT_FLAGS, AGENT_FLAGS_ABOUT, openAgent } from "./agent-flags.ts";
import { type Ended, runAgent, runHeadless } from "./headless.ts";
import { chatModel } from "./chat-model.ts";

export const continueCommand: Command = {
  name: "continue",
  summary: "Finishes a turn that was cut off, stopped or waits, without a new prompt",
  usage: ["ID [--model PROVIDER/NAME] [--yes] [--max-steps N] [--max-cost USD]"],
  about: `Calls of tools that were not started are run, results that are known stay, what was started
and has no outcome is told to the model as unknown and not done again; then the model is asked
for the rest. Prints the answer and exits as \`chat -p\` does. A process that died holding the
conversation is taken over at once; one that lives is waited for. A question that waits for a
person goes on waiting, unless it has been answered or --yes is given. Where the last turn is
complete nothing is done, and it says so (exit 0).

${AGENT_FLAGS_ABOUT}`,
  examples: ["holdfast continue ID", "holdfast continue ID --yes --json"],
  options: AGENT_FLAGS,
  writes: true,
  arity: [1, 1],
  run: (call) =>
    runHeadless(call, async (at) => {
      const holdfast = await call.open();
      const conversation = await findConversation(holdfast, call.args[0] ?? "");
      at.begin(conversation);
      const opened = await chatModel(call, conversation, `holdfast continue ${conversation.id}`);
      const { agent } = await openAgent(holdfast, conversation, opened);
      return runAgent(call, at, {
        agent,
        conversation,
        urls: opened.urls,
        run: (options) => agent.continue(conversation, options).catch(ifComplete),
      });
    }),
};

/** Of two who go on with a turn the later one finds it done: that is what it wanted. */
function ifComplete(error: unknown): Ended {
  if (!isLogError(error, "invalid_request") || !("completed" in error.details)) throw error;
  return { outcome: "completed", class: "completed", text: "", message: error.message, resetAtMs: null };
}
