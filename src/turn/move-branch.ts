import type { EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Owned } from "./one-at-a-time.ts";

/**
 * Moves the branch's end to a node. Whoever goes back in what was said has not changed their mind about the model or the
 * mode: settings stay.
 */
export async function moveBranch(
  { conversation, owner }: Pick<Owned, "conversation" | "owner">,
  node: EntryId,
): Promise<void> {
  const now = await conversation.settings();
  await owner.append({ type: "leaf", target: node });
  const then = await conversation.settings();
  const bodies: EntryBody[] = [];
  if (JSON.stringify(now.config) !== JSON.stringify(then.config))
    bodies.push({ type: "config_change", config: now.config });
  const { model, modelProvider: provider } = now;
  if (model !== null && (model !== then.model || provider !== then.modelProvider))
    bodies.push({ type: "model_change", model, ...(provider === undefined ? {} : { provider }) });
  if (bodies.length > 0) await owner.append(bodies);
}
