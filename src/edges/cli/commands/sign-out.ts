import type { SignedOut } from "#conversation/sign-out";
import { ERROR_GROUPS, LogError } from "#log/errors";
import { answer, type Command } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { progressOn } from "#edges/cli/terminal/output";
import { type Style, counted, safeLine } from "#edges/cli/terminal/terminal";

export const signOutCommand: Command = {
  name: "sign-out",
  summary: "Stop resuming an account's sessions and clear their context",
  usage: [
    "--agent AGENT [--account ACCOUNT] [--keep-context]",
    "--account ACCOUNT [--keep-context]",
    "--all [--keep-context]",
  ],
  about: `Holdfast stops resuming the sessions of the agent or account in every conversation of the
space. A conversation whose context holds anything said under the account starts empty with
its next message, also when another account spoke last: what was said since may repeat it.
Anything said since the last new chat counts. The history stays. Holdfast can't take back
what it already sent to another account. An open editor is notified.

Holdfast reports each conversation that is damaged or busy and continues with the others; run
the command again for the rest. Exit code 6: one was damaged; 5: one was busy. The command
does not log you out of the agent: do that in the agent. Files and external effects are not
undone.

  --agent AGENT      the sessions of this agent, under any account
  --account ACCOUNT  the sessions of this account, as \`holdfast acp --account\` named it
  --all              the sessions of every agent and account
  --keep-context     keep the context: the next account is sent what was said`,
  examples: [
    "holdfast sign-out --agent claude",
    "holdfast sign-out --account work --keep-context",
    "holdfast sign-out --all --json",
  ],
  options: {
    agent: { type: "string" },
    account: { type: "string" },
    all: { type: "boolean" },
    "keep-context": { type: "boolean" },
  },
  writes: true,
  arity: [0, 0],
  async run(call) {
    const { flags } = call;
    const [agent, account] = [flags.text("agent"), flags.text("account")];
    if (flags.has("all") === (agent !== undefined || account !== undefined))
      throw new LogError("invalid_request", "Say whose sessions: --agent AGENT, --account ACCOUNT, or --all");
    const holdfast = await call.open();
    const progress = progressOn(call.io.err, "looking through conversations");
    const done = await holdfast.signOut({
      ...(agent === undefined ? {} : { agent }),
      ...(account === undefined ? {} : { account }),
      keepContext: flags.has("keep-context"),
      onProgress: progress.step,
    });
    progress.end();
    const value = { agent: agent ?? null, account: account ?? null, ...done };
    await answer(call, value, () => report(done, call.io.out.style));
    return statusOf(done);
  },
};

function report({ ended, reset, failed }: SignedOut, style: Style): string {
  const left = failed.map(
    ({ conversation, message }) =>
      `${style.yellow("not done")}  ${safeLine(conversation)}: ${safeLine(message)}`,
  );
  const done = `${counted(ended, "session")} ended; ${counted(reset.length, "conversation")} will start empty`;
  return [...left, done, ...(left.length > 0 ? ["Run it again for the rest."] : [])].join("\n");
}

function statusOf({ failed }: SignedOut): number {
  if (failed.some(({ code }) => ERROR_GROUPS[code] === "damaged")) return STATUS.damaged;
  return failed.length > 0 ? STATUS.unavailable : STATUS.ok;
}
