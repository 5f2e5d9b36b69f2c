import type { BlockExtras, ToolCall } from "./message.ts";

/** The source text of a call's input, where serializing the input again would give another text. */
function rawInputOf({ providerMetadata }: BlockExtras): string | null {
  const own = providerMetadata?.["holdfast"];
  const raw = typeof own === "object" && own !== null && "input" in own ? own["input"] : null;
  return typeof raw === "string" ? raw : null;
}

/** The input of a call as the model wrote it, even if it is not JSON. */
export function callInput(call: ToolCall): string {
  return rawInputOf(call) ?? JSON.stringify(call.input);
}
