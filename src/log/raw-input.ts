import type { BlockExtras, ToolCall } from "./message.ts";

/** The text that a call's input came in, where writing the input anew would give another. */
function rawInputOf({ providerMetadata }: BlockExtras): string | null {
  const own = providerMetadata?.["holdfast"];
  const raw = typeof own === "object" && own !== null && "input" in own ? own["input"] : null;
  return typeof raw === "string" ? raw : null;
}

/** The input of a call as the model wrote it, also where that is no JSON. */
export function callInput(call: ToolCall): string {
  return rawInputOf(call) ?? JSON.stringify(call.input);
}
