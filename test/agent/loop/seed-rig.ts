import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { SeedMessage } from "#log/runs/check-seeds";

export const EMAIL = { type: "email", id: "mail-7" } as const;
export const SEEDS: readonly SeedMessage[] = [
  { role: "system", content: "You answer emails." },
  { role: "user", content: "From: ann\nIs it paid?", isNew: false, timestamp: "2026-01-01T00:00:00Z" },
  { role: "assistant", content: [{ type: "text", text: "Not yet." }], details: { message: "<7@x>" } },
  { role: "user", content: "From: ann\nAnd now?", isNew: true, details: { from: "ann", spam: 0 } },
];
export const SEEDED: readonly string[] = [
  "user: From: ann\nIs it paid?",
  "assistant: Not yet.",
  "user: From: ann\nAnd now?",
];

/** A request in short, without the reminder behind it. */
export function asked({ prompt }: LanguageModelV4CallOptions): readonly string[] {
  return prompt
    .filter((message) => !JSON.stringify(message).includes("<system-reminder>"))
    .map((message) => {
      if (typeof message.content === "string") return `${message.role}: ${message.content}`;
      const parts = message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`));
      return `${message.role}: ${parts.join(" ")}`;
    });
}
