import type { SourcePrompt, ReplayWhat } from "#agent/replay/replay-source";
import type { Holdfast } from "#conversation/holdfast";
import type { ServerParts } from "#edges/http/handlers/asked";
import { entryPreview } from "#transfer/views/entry-preview";
import type { ReplayOffer } from "./replay-api.ts";

const LISTED_MAX = 500;

/** What could be replayed of a run or a branch. Nothing is sent or written. */
export async function replayOffer(
  holdfast: Holdfast,
  { replays, cwd }: Pick<ServerParts, "replays" | "cwd">,
  asked: { readonly what: ReplayWhat; readonly from: string | undefined },
): Promise<ReplayOffer> {
  const folder = cwd === null ? {} : { cwd };
  const { plan, prompts, tools } = await replays.prepare(holdfast, asked.what, folder);
  const left =
    asked.from === undefined
      ? prompts
      : (await replays.prepare(holdfast, asked.what, { ...folder, fromEntry: asked.from })).prompts;
  const { title } = await (await holdfast.conversation(plan.source.conversation)).head();
  return {
    source: plan.source,
    title,
    promptCount: prompts.length,
    first: prompts.length - left.length + 1,
    prompts: prompts
      .map((prompt, at) => ({
        number: at + 1,
        message: prompt.messageNumber,
        entry: prompt.entry.id,
        text: wordsOf(prompt),
      }))
      .slice(-LISTED_MAX),
    models: replays.models,
    tools: tools.map((tool) => ({
      name: tool.name,
      hasEffect: tool.effect !== "none",
      hasDryRun: "dryRun" in tool && tool.dryRun !== undefined,
    })),
    absent: plan.absent,
  };
}

function wordsOf({ entry }: SourcePrompt): string {
  return entry.type === "seed" ? "The seeds of the run" : entryPreview(entry);
}
