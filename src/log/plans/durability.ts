import type { StampedDraft } from "#log/batch";

/** `full`: on disk before it is acknowledged. `relaxed`: survives the process, not necessarily the power. */
export type Durability = "full" | "relaxed";

const ALWAYS_FULL: ReadonlySet<string> = new Set(["tool_intent", "upstream_link", "conversation"]);

/** Prompts, intents and links are never relaxed: what follows them in the world cannot be taken back. */
export function durabilityOf(drafts: readonly StampedDraft[], asked: Durability): Durability {
  if (drafts.every(({ draft }) => draft.type === "update")) return "relaxed";
  const full = drafts.some(({ draft }) => ALWAYS_FULL.has(draft.type) || isPrompt(draft.body));
  return full ? "full" : asked;
}

function isPrompt(body: { readonly [name: string]: unknown }): boolean {
  const message = body["message"];
  return typeof message === "object" && message !== null && "role" in message && message.role === "user";
}
