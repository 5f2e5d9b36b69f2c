import type { Answer } from "#edges/acp/agent/process/connection";
import type { BridgeSession, HostedAgent, ForwardedRequest } from "#edges/acp/bridge-upstream";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import type { HostRequest } from "#edges/acp/host/wire/host-request";
import { rewriteIds } from "#edges/acp/wire/rewrite";
import { type Edit, splice } from "#edges/acp/wire/splice";

/** Whatever is not ours goes to the agent: about a session, or about none. */
export async function forward(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const id = request.text("sessionId");
  const session = id === null ? null : await (await bridge.conversations.open(id)).readySession();
  const upstream = session ?? upstreamFor(bridge, request);
  if (request.id === null) return upstream.notify(request.message);
  const answer = await answerTo(request, await upstream.forward(request.message));
  respondWith(bridge, request, { answer, session });
}

/** Waits for what the agent answers, and tells it when the host does not. */
export function answerTo(request: HostRequest, forwarded: ForwardedRequest): Promise<Answer> {
  request.onWithdrawn = () => forwarded.cancel();
  return forwarded.answer;
}

/** A login is for the agent that offers it; anything else without a session is for the first. */
function upstreamFor({ upstreams }: BridgeContext, request: HostRequest): HostedAgent {
  const method = request.method === "authenticate" ? request.text("methodId") : null;
  const offering = method === null ? undefined : upstreams.find(({ logins }) => logins.includes(method));
  return offering ?? upstreams[0];
}

/** Answers the host as the agent did, with the host's id of the request and ours of the session. */
export function respondWith(
  bridge: BridgeContext,
  request: HostRequest,
  at: { readonly answer: Answer; readonly session: BridgeSession | null; readonly more?: readonly Edit[] },
): void {
  const { message } = at.answer;
  const { session, more = [] } = at;
  if (request.id === null || message.id === null) return;
  const ids = session === null ? [] : rewriteIds(message, session.id, session.conversation);
  const own = { span: message.id, text: request.id };
  bridge.wire.send(splice(message.bytes, [...ids, ...more, own]));
}
