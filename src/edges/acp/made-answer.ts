import type { Json } from "#log/json/json-text";
import type { Answer } from "./agent/process/connection.ts";
import type { ForwardedRequest } from "./bridge-upstream.ts";
import { type Message, readMessage } from "./wire/spans.ts";

const METHOD_NOT_FOUND = -32_601;
const encoder = new TextEncoder();

/** An answer that no agent gave, in the shape of one. */
export function madeAnswer(
  said: { readonly result: Json } | { readonly error: NonNullable<Answer["error"]> },
): Answer {
  const message = readMessage(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id: null, ...said })));
  if (message === null) throw new TypeError("Not a message");
  return { message, error: "error" in said ? said.error : null };
}

/** The answer to a request that only agents of the host's protocol know. */
export function unknownMethod({ method }: Message): ForwardedRequest {
  const error = {
    code: METHOD_NOT_FOUND,
    message: `"${method}" is not something this agent knows`,
    data: null,
  };
  return { answer: Promise.resolve(madeAnswer({ error })), cancel: () => undefined };
}
