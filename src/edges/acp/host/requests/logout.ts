import { fieldsOf, textIn } from "#log/json/json-fields";
import { resultOf } from "#edges/acp/agent/process/connection";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import { agentNames } from "#edges/acp/host/bridge-parts";
import { optionsIn } from "#edges/acp/host/wire/host-options";
import type { HostRequest } from "#edges/acp/host/wire/host-request";
import { BadRequest } from "#edges/acp/host/wire/rpc-error";
import { answerTo, forward, respondWith } from "./forward.ts";

/**
 * The agent forgets its login, and the log what that account could be resumed by. What it did not do counts as not done:
 * its answer passes as it is.
 */
export async function logout(bridge: BridgeContext, request: HostRequest): Promise<void> {
  if (request.id === null) return forward(bridge, request);
  const options = optionsIn(request);
  const named = textIn(options["agent"]);
  const upstream =
    named === null ? bridge.upstreams[0] : bridge.upstreams.find(({ agent }) => agent === named);
  if (upstream === undefined)
    throw new BadRequest(
      `There is no agent ${named}. The agents here are ${agentNames(bridge).join(", ")}. Nobody was signed out.`,
    );
  const answer = await answerTo(request, await upstream.forward(request.message));
  if (answer.error !== null) return respondWith(bridge, request, { answer, session: null });
  const { agent, account } = upstream;
  const keepContext = options["keepContext"] === true;
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
