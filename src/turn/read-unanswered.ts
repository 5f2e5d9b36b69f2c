import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { LogError } from "#log/errors";
import type { Leaf } from "#log/lineage/head";
import type { EntryId } from "#log/ids";
import type { Conversation } from "#conversation/conversation";
import { readLastModelNode } from "./last-said.ts";
import { cameBack, checkCutOff, GO_ON, turnedAwayPrompt, unansweredContent } from "./rules/unanswered.ts";

interface Unanswered {
  readonly prompt: EntryId;
  readonly before: Leaf;
  readonly content: readonly ContentBlock[];
  /** It was turned away and does not lie on the branch. */
  readonly aside: boolean;
}

/** The prompt the branch ends with, if it may be sent once more, and where the branch stood before it. */
export async function readUnanswered(
  { space, id: conversation }: Conversation,
  facts: readonly Entry[],
): Promise<Unanswered> {
  const { leaf } = await space.head(conversation);
  const beside = turnedAwayPrompt(facts);
  const away = beside === null ? null : decodeEntry(await space.entry(conversation, beside));
  if (away?.parentId === leaf.id) {
    const content = unansweredContent(away, { own: true, toolStarted: false, cameBack: false });
    return { prompt: away.id, before: leaf, content, aside: true };
  }
  // Another model may have been chosen since: that answers nothing.
  const lastModelNode = await space.entry(conversation, await readLastModelNode(space, conversation, leaf));
  const last = decodeEntry(lastModelNode);
  const started = await space.read({ conversation, after: last.seq, limit: 1, types: ["tool_intent"] });
  const own = lastModelNode.place?.conversation === conversation;
  const content = unansweredContent(last, {
    own,
    toolStarted: started.length > 0,
    cameBack: cameBack(last, facts),
  });
  const parent = last.parentId === null ? null : await space.entry(conversation, last.parentId);
  if (!parent?.place)
    throw new LogError("damaged", `The prompt ${last.id} has no parent`, { entry: last.id });
  const before = { ...parent.place, id: parent.id, tip: false };
  return { prompt: last.id, before, content, aside: false };
}

/** What an agent is asked to finish the reply with that the branch ends with; refused when there is none. */
export async function readGoOn(
  { space, id: conversation }: Conversation,
  facts: readonly Entry[],
): Promise<string> {
  const { leaf } = await space.head(conversation);
  const lastModelNode = await space.entry(conversation, await readLastModelNode(space, conversation, leaf));
  checkCutOff(decodeEntry(lastModelNode), facts);
  return GO_ON;
}
