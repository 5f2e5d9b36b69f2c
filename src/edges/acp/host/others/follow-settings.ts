import { NEVER } from "#conversation/clock";
import type { ConversationId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { changedChoices, choicesIn, type Config } from "#log/projections/config";
import { bounded } from "#upstream/sessions/bounded";
import type { BridgeSession } from "#edges/acp/bridge-upstream";
import { type BridgeParts, carrierOf } from "#edges/acp/host/bridge-parts";

const APPLY_MS = 10_000; // an agent that takes longer keeps no prompt waiting

interface FollowingConversation {
  readonly id: ConversationId;
  readonly settings: { readonly config: Config; refresh(): Promise<Config> };
  /** The session its agent holds for it now. */
  readonly session: BridgeSession | null;
  /** Tells the host the options of that session, with the agent's among them. */
  tellOptions(): void;
}

/**
 * Takes over what another window chose: the agent, and the mode and options, which the session that is held here is given
 * as well. The host is told what is different. True when another agent carries the conversation.
 */
export async function followSettings(
  parts: BridgeParts,
  conversation: FollowingConversation,
): Promise<boolean> {
  const { id, settings } = conversation;
  const before = await settings.refresh();
  const now = settings.config;
  const [{ agent: from }, { agent }] = [carrierOf(parts, before), carrierOf(parts, now)];
  const { session } = conversation;
  const shown = shownOf(session);
  const chosen = changedChoices(choicesIn(before, agent), choicesIn(now, agent));
  if (session !== null && Object.keys(chosen).length > 0)
    await bounded(
      { clock: parts.clock, resumeMs: APPLY_MS, cancelled: NEVER },
      session.applyChoices(chosen),
    ).catch(() => undefined);
  await session?.refresh();
  const { mode, options } = shownOf(session);
  if (from !== agent) {
    const _meta = { holdfast: { event: "switched", from, agent } };
    parts.wire.update(id, { sessionUpdate: "session_info_update", _meta });
  }
  if (typeof mode === "string" && mode !== shown.mode)
    parts.wire.update(id, { sessionUpdate: "current_mode_update", currentModeId: mode });
  if (from !== agent || options !== shown.options) conversation.tellOptions();
  return from !== agent;
}

/** What a host shows of a session's settings; its options as text, to be compared. */
function shownOf(session: BridgeSession | null): { readonly mode: Json; readonly options: string } {
  const { modes = null, options = null } = session?.options ?? {};
  return { mode: fieldsOf(modes)["currentModeId"] ?? null, options: JSON.stringify(options) };
}
