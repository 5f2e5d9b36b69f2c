import type { Context } from "#log/projections/context";
import type { RunContext } from "#log/runs/run-context";
import type { Conversation } from "#conversation/conversation";
import { readRunContext } from "#conversation/read-run";
import type { HeadView } from "#store/requests";
import { readRunStart } from "./begin-run.ts";
import { type LoopRun, loopRun } from "./loop-run.ts";

/** What goes out with the next request. `system`: in place of the prompt that is made for it; null: it is made. */
export type RequestMessages = Pick<RunContext, "messages" | "system">;

/** The context of the conversation, or what the run of a turn has in its place. */
export async function readRequestMessages(
  { space, id: conversation }: Conversation,
  run: LoopRun | null,
  { context, ...input }: { readonly context: Context; readonly head?: HeadView },
): Promise<RequestMessages> {
  if (run === null || run.seed === null) return { messages: context.messages, system: null };
  const head = input.head ?? (await space.head(conversation));
  const window = { ...run, conversation, highWater: head.headSeq };
  return (await readRunContext(space, window, { conversation, end: head.leaf })).context;
}

/** The run of the turn that is open; null where none is, or it belongs to none. */
export async function readOpenRun(conversation: Conversation, head: HeadView): Promise<LoopRun | null> {
  const turn = head.summary?.turn ?? null;
  if (turn?.state !== "open" || turn.run === undefined) return null;
  const start = await readRunStart(conversation, head, turn.run);
  return start === null ? null : loopRun(start.start, start.startSeq);
}
