import { fieldsOf } from "#log/json/json-fields";
import { resultOf } from "#edges/acp/agent/process/connection";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import type { HostRequest } from "#edges/acp/host/wire/host-request";
import { answerTo, forward, respondWith } from "./forward.ts";

/**
 * The agent forgets its login, and the log what that account could be resumed by. What it did not do counts as not done:
 * its answer passes as it is.
 */
export async function logout(bridge: BridgeContext, request: HostRequest): Promise<void> {
  if (request.id === null) return forward(bridge, request);
  const asked = fieldsOf(fieldsOf(fieldsOf(request.value())["_meta"])["holdfast"]);
  const upstream = bridge.upstreams.find(({ agent }) => agent === asked["agent"]) ?? bridge.upstreams[0];
  const answer = await answerTo(request, await upstream.forward(request.message));
  if (answer.error !== null) return respondWith(bridge, request, { answer, session: null });
  const { agent, account } = upstream;
  const keepContext = asked["keepContext"] === true;
  const signedOut = await bridge.holdfast.signOut({ agent, account, keepContext });
  const result = fieldsOf(resultOf(answer));
  const meta = {
    ...fieldsOf(fieldsOf(result["_meta"])["holdfast"]),
    signedOut: { agent, account, ...signedOut },
  };
  bridge.wire.respond(
    request.id,
    JSON.stringify({ ...result, _meta: { ...fieldsOf(result["_meta"]), holdfast: meta } }),
  );
}
