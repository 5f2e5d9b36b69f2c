import { appendFile } from "node:fs/promises";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Tool, ToolOutput } from "#turn/effects/tool";

/** An example of a tool that ends a turn: an email, written to an outbox file as one line of JSON. */
export function composeEmail(options: { readonly outbox: string }): Tool {
  return {
    name: "ComposeEmail",
    description: "Sends an email. Nothing is said or done after it.",
    input: {
      type: "object",
      properties: { to: { type: "string" }, subject: { type: "string" }, body: { type: "string" } },
      required: ["to", "subject", "body"],
      additionalProperties: false,
    },
    final: true,
    run: async (input, { idempotencyKey }) => {
      const line = JSON.stringify({ ...emailOf(input), idempotencyKey });
      await appendFile(options.outbox, `${line}\n`, { flush: true });
      return sentOutput(input, "Sent to");
    },
    dryRun: async (input) => sentOutput(input, "Would be sent to"),
  };
}

function emailOf(input: Json): { readonly to: string; readonly subject: string; readonly body: string } {
  const { to, subject, body } = fieldsOf(input);
  return { to: wordsIn(to), subject: wordsIn(subject), body: wordsIn(body) };
}

function sentOutput(input: Json, words: string): ToolOutput {
  const { to, subject } = emailOf(input);
  return { content: `${words} ${to}`, details: { type: "sentEmail", to, subject } };
}
