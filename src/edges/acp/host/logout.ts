import { signOut } from "#conversation/resets";
import { resultOf } from "#edges/acp/agent/process/connection";
import { fieldsOf } from "#log/json/json-fields";
import type { Floor } from "./floor.ts";
import { forward, passAnswer, sendOn } from "./forward.ts";
import type { HostRequest } from "./wire/requests.ts";

/**
 * The agent forgets its login, and the log what that account could be resumed by. What it did not do counts as not done:
 * its answer passes as it is.
 */
export async function logout(floor: Floor, request: HostRequest): Promise<void> {
  if (request.id === null) return forward(floor, request);
  const asked = fieldsOf(fieldsOf(fieldsOf(request.value())["_meta"])["holdfast"]);
  const agent = floor.agents.find((one) => one.agent === asked["agent"]) ?? floor.agents[0];
  const answer = await sendOn(request, (await agent.start()).connection, null);
  if (answer.error !== null) return passAnswer(floor, request, { answer, session: null });
  const { account } = agent;
  const keepContext = asked["keepContext"] === true;
  const signedOut = await signOut(floor.holdfast, { agent: agent.agent, account, keepContext });
  const result = fieldsOf(resultOf(answer));
  const word = {
    ...fieldsOf(fieldsOf(result["_meta"])["holdfast"]),
    signedOut: { agent: agent.agent, account, ...signedOut },
  };
  floor.wire.respond(
    request.id,
    JSON.stringify({ ...result, _meta: { ...fieldsOf(result["_meta"]), holdfast: word } }),
  );
}
