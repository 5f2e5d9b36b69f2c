import type { ForwardedRequest } from "#edges/acp/bridge-upstream";
import type { Message } from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import { AgentLine } from "./host-port.ts";
import { type Answer, type Connection, ConnectionEnded } from "./process/connection.ts";

interface ForwardInput {
  readonly request: Message;
  readonly edits: readonly Edit[];
  /** Puts a line behind what was said before it; false when nothing waits. */
  readonly inOrder: (line: AgentLine) => boolean;
}

/** Asks an agent what the host asked. The answer keeps its place behind what the agent said before. */
export function forwardOn(
  connection: Connection,
  { request, edits, inOrder }: ForwardInput,
): ForwardedRequest {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
  const id = connection.forward(request, edits, (given) => {
    if (given instanceof ConnectionEnded) return reject(given);
    const onReached = (): void => resolve(given);
    const place = new AgentLine({ connection, message: given.message, session: null, onReached });
    if (!inOrder(place)) onReached();
  });
  return { answer, cancel: () => connection.notify("$/cancel_request", `{"requestId":${id}}`) };
}
