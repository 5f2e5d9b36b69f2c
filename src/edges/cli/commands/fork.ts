import type { Conversation, ForkOptions } from "#conversation/conversation";
import { LogError } from "#log/errors";
import { NOT_UNDONE } from "#transfer/words";
import { findAddress } from "#edges/cli/address";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { findRunToFork, overridesOf } from "#edges/cli/runs/run-to-fork";
import { safeLine } from "#edges/cli/terminal/terminal";

export const fork: Command = {
  name: "fork",
  summary: "Makes a new conversation that shares this one up to an entry",
  usage: [
    "ID[@ENTRY] [--id NEW] [--cwd DIR] [--key KEY]",
    "RUN[@ENTRY] [--model NAME] [--tools A,B] [--patch-system FILE] [--id NEW] [--cwd DIR] [--key KEY]",
  ],
  about: `The source is not touched and the fork sees nothing it adds later. Without ENTRY the fork
grows from the leaf. It costs the same however long the conversation is. Files and external
effects are not undone: both conversations see the world as it is now.

  --id NEW   the fork's own id
  --cwd DIR  the folder the fork is about
  --key KEY  the same command run twice makes one fork, not two

From a run, by its whole id, the fork begins a run that continues it and shares its seeds; without
ENTRY from the run's end. What is other than in the run is recorded in the fork:

  --model NAME         the model that is asked, as provider/name
  --tools A,B          the tools that it is offered
  --patch-system FILE  what the model is told of its task`,
  examples: [
    "holdfast fork ID",
    "holdfast fork ID@m3 --id second-try",
    "holdfast fork ID@before-refactoring --json",
    "holdfast fork RUN@m3 --model openai/gpt-5 --tools read,search",
  ],
  options: {
    id: { type: "string" },
    cwd: { type: "string" },
    key: { type: "string" },
    model: { type: "string" },
    tools: { type: "string" },
    "patch-system": { type: "string" },
  },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const { conversation: made, run } = await makeFork(call);
    const { leaf, origin } = await made.head();
    const from =
      origin === null ? null : { conversation: origin.source, entry: origin.entry, head: origin.head };
    const named = run === null ? {} : { run };
    await answer(call, { conversation: made.id, leaf: leaf.id, origin: from, ...named }, () =>
      safeLine(made.id),
    );
    if (call.io.out.isTerminal && !call.json) await remark(call, `The source is as it was. ${NOT_UNDONE}`);
  },
};

interface Forked {
  readonly conversation: Conversation;
  /** The run that was begun in it; null: it is a fork of a conversation. */
  readonly run: string | null;
}

async function makeFork(call: Call): Promise<Forked> {
  const { flags } = call;
  const holdfast = await call.open();
  const [text = ""] = call.args;
  const options = forkOptions(call);
  const overrides = await overridesOf(flags);
  const found = await findRunToFork(holdfast, text);
  if (found !== null) {
    const { run, ...where } = found;
    return holdfast.forkRun(run, { ...options, ...overrides, ...where });
  }
  const { conversation: source, entry } = await findAddress(holdfast, text);
  if (Object.keys(overrides).length > 0)
    throw new LogError(
      "invalid_request",
      `--model, --tools and --patch-system go with a run, and ${source.id} is a conversation; nothing was forked`,
    );
  const conversation = await source.fork({ ...options, ...(entry === null ? {} : { at: entry }) });
  return { conversation, run: null };
}

function forkOptions({ flags }: Call): ForkOptions {
  const [id, key, cwd] = [flags.text("id"), flags.text("key"), flags.text("cwd")];
  return {
    ...(id === undefined ? {} : { id }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(key === undefined ? {} : { key }),
  };
}
