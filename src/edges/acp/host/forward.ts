import { type Answer, type Connection, ConnectionEnded } from "#edges/acp/agent/process/connection";
import { AgentLine } from "#edges/acp/agent/host-port";
import type { AcpSession } from "#edges/acp/agent/session";
import type { AcpUpstream } from "#edges/acp/agent/upstream";
import { type Edit, splice } from "#edges/acp/wire/splice";
import type { Floor } from "./floor.ts";
import type { HostRequest } from "./wire/requests.ts";
import { rewriteIds } from "./wire/rewrite.ts";

/** Whatever is not ours goes to the agent: about a session, or about none. */
export async function forward(floor: Floor, request: HostRequest): Promise<void> {
  const id = request.text("sessionId");
  const session = id === null ? null : await floor.session(await floor.desk(id));
  const connection = session?.connection ?? (await agentFor(floor, request).start()).connection;
  const { message } = request;
  const edits = session === null ? [] : rewriteIds(message, session.conversation, session.id);
  if (request.id === null) connection.send(splice(message.bytes, edits));
  else passAnswer(floor, request, { answer: await sendOn(request, connection, session), session });
}

/** Asks the agent what the host asked. The answer keeps its place behind what the agent said of the session before. */
export function sendOn(
  request: HostRequest,
  connection: Connection,
  session: AcpSession | null,
): Promise<Answer> {
  const { message } = request;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const edits = session === null ? [] : rewriteIds(message, session.conversation, session.id);
  const id = connection.forward(message, edits, (answer) => {
    if (answer instanceof ConnectionEnded) return reject(answer);
    const onReached = (): void => resolve(answer);
    const mark = new AgentLine({ connection, message: answer.message, session: null, onReached });
    if (session?.takeBeside(mark) !== true) onReached();
  });
  request.onTakenBack = () => connection.notify("$/cancel_request", `{"requestId":${id}}`);
  return promise;
}

/** A login is for the agent that offers it; anything else without a session is for the first. */
function agentFor(floor: Floor, request: HostRequest): AcpUpstream {
  const method = request.method === "authenticate" ? request.text("methodId") : null;
  const offering = method === null ? undefined : floor.agents.find((agent) => agent.logins.includes(method));
  return offering ?? floor.agents[0];
}

/** The agent's answer as it came, with the host's id of the request and ours of the session. */
export function passAnswer(
  floor: Floor,
  request: HostRequest,
  at: { readonly answer: Answer; readonly session: AcpSession | null; readonly more?: readonly Edit[] },
): void {
  const { message } = at.answer;
  const { session, more = [] } = at;
  if (request.id === null || message.id === null) return;
  const ids = session === null ? [] : rewriteIds(message, session.id, session.conversation);
  const own = { span: message.id, text: request.id };
  floor.wire.send(splice(message.bytes, [...ids, ...more, own]));
}
