import { stat } from "node:fs/promises";
import type { Conversation } from "#conversation/conversation";
import { UpstreamFailure } from "#upstream/upstream";
import type { EntryBody } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import type { OpenConversation, ReadySession } from "./open-conversation.ts";
import { type HostRequest, findMessage, optionsIn } from "./host-request.ts";
import type { BridgeContext } from "./open-conversations.ts";
import { HistoryStream, readHostHistory } from "./history.ts";
import { withKnownTools } from "#agent/mcp/conversation-servers";
import { withoutSecrets } from "#agent/mcp/mcp-server";
import { adoptNative, nativeRef } from "./list-sessions.ts";
import type { RestoredState } from "#edges/acp/bridge-agents";
import type { Describe } from "./updates.ts";
import { forkedNotice } from "./host-view.ts";
import { perform, valueOf } from "#operations/operation";
import { getChain } from "#operations/records";
import { NOT_UNDONE } from "#operations/text";
import { fieldsOf, textIn } from "#log/json/json-fields";
import { withAgentOption } from "./bridge-parts.ts";
import { rewriteIds, spliceWithin } from "#edges/acp/wire/splice";
import { readableAt } from "#edges/acp/wire/spans";

type Meta = { readonly [name: string]: Json };

export async function newSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const cwd = requiredCwd(request);
  // An agent that cannot even be started leaves nothing behind.
  await bridge.upstreams[0].introduce();
  const stored = await bridge.holdfast.create({ cwd });
  const conversation = await bridge.conversations.open(stored.id);
  try {
    await keepParams(conversation, request);
    const ready = await conversation.connect();
    const { headSeq: seq } = await stored.head();
    answer(bridge, request, { conversation, ready });
    conversation.showExternalTurnsAfter(seq);
  } catch (error) {
    // Nothing is erased unasked. What never had a session is not listed, and is taken up if the host comes back to it.
    bridge.conversations.remove(conversation.id);
    throw error;
  }
}

/**
 * Replays the history from the log, then answers. The agent's own replay, if any, is not shown. The history is on its way
 * while the agent gets its session ready; what that brings to light, such as turns made elsewhere, follows it.
 */
export async function loadSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const { conversation, meta } = await openConversation(bridge, request);
  const { upstream, cwd } = conversation;
  const describe: Describe = (call) => upstream.describeCall(call, cwd);
  const history = new HistoryStream(bridge, conversation.id, describe);
  const [connected, replay] = await Promise.allSettled([connectIfPossible(conversation), history.show()]);
  if (connected.status === "rejected") throw connected.reason;
  if (replay.status === "rejected") throw replay.reason;
  const ready = connected.value;
  const seq = await history.show();
  const plan = await bridge.holdfast.handle(conversation.id).latest(["plan"]);
  if (plan?.data !== undefined) bridge.wire.update(conversation.id, fieldsOf(plan.data));
  const state = await upstream.restored(conversation.id);
  for (const update of state?.updates ?? []) bridge.wire.update(conversation.id, update);
  answer(bridge, request, { conversation, ready, meta: withState(meta, state) });
  conversation.showExternalTurnsAfter(seq);
  tellLoss(conversation, ready);
  if (state?.notice != null) conversation.view.tell(state.notice, "message");
}

export async function resumeSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const { conversation, meta } = await openConversation(bridge, request);
  const ready = await connectIfPossible(conversation);
  const { headSeq: seq } = await bridge.holdfast.handle(conversation.id).head();
  const state = await conversation.upstream.restored(conversation.id);
  answer(bridge, request, { conversation, meta: withState(meta, state), ready });
  conversation.showExternalTurnsAfter(seq);
  tellLoss(conversation, ready);
  if (state?.notice != null) conversation.view.tell(state.notice, "message");
}

function withState(meta: Meta, state: RestoredState | null): Meta {
  return state === null ? meta : { ...meta, restored: state.meta };
}

/** The session that carried the conversation was found to be gone, and the next prompt will not say so any more. */
function tellLoss(conversation: OpenConversation, ready: ReadySession | null): void {
  if (ready === null) return;
  const { reason, fidelity, silent, priorContext } = ready.connected;
  if (silent || reason === null || fidelity === "native") return;
  const about = { conversation: conversation.id, upstream: null, restored: 0 };
  conversation.view.host.onEvent?.({ type: "session", ...about, reason, fidelity, silent, priorContext });
}

export async function forkSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const source = await bridge.holdfast.conversation(request.session);
  const from = await bridge.conversations.open(source.id);
  const message =
    textIn(optionsIn(request)["at"]) ?? request.text("_meta", "jetbrains", "air", "fork", "messageId");
  const entry = message === null ? null : await findMessage(source, message);
  const cwd = request.text("cwd");
  await checkFolder(request);
  const { agent } = from.upstream;
  // The host's params come before the agent forks: the fork has the servers of this session.
  const prepare = async (child: Conversation): Promise<void> => {
    const conversation = await bridge.conversations.open(child.id);
    await keepParams(conversation, request);
    await moveTo(conversation, request);
  };
  const places = { ...(entry === null ? {} : { at: entry }), ...(cwd === null ? {} : { cwd }) };
  const forked = await bridge.turns.fork(source.id, { agent, ...places, prepare, ...from.view.host });
  const conversation = await bridge.conversations.open(forked.conversation.id);
  const meta = { source: source.id, notUndone: NOT_UNDONE };
  const ready = await conversation.connect();
  const { headSeq: seq } = await bridge.holdfast.handle(conversation.id).head();
  answer(bridge, request, { conversation, ready, meta });
  conversation.showExternalTurnsAfter(seq);
  conversation.view.tell(forkedNotice(source.id), "thought");
}

/** `_holdfast/chain`: the sessions that carried a conversation, by the number `resume` knows them by; never their ids. */
export async function chainOfSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const { holdfast, clock } = bridge;
  const { links } = valueOf(await perform(getChain, { conversation: request.session }, { holdfast, clock }));
  const numbered = links
    .filter((link) => !link.inherited)
    .map(({ agent, reason, since }, index) => ({ link: index + 1, agent, reason, since }));
  if (request.id !== null) bridge.wire.respond(request.id, JSON.stringify({ links: numbered }));
}

export async function closeSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const conversation = await bridge.conversations.open(request.session);
  conversation.cancel();
  await conversation.promptsEnded();
  await bridge.turns.release(conversation.id);
  bridge.conversations.remove(conversation.id);
  if (request.id !== null) bridge.wire.respond(request.id, "{}");
}

/** The host's explicit act: the conversation is gone for good, and so are the agent's sessions as far as it can. */
export async function deleteSession(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const conversation = await bridge.conversations.open(request.session);
  const stored = await bridge.holdfast.conversation(conversation.id);
  conversation.cancel();
  await conversation.promptsEnded();
  await bridge.turns.release(conversation.id);
  const links = (await stored.chain()).filter((link) => !link.inherited);
  await stored.erase();
  bridge.conversations.remove(conversation.id);
  for (const { agent, id } of links)
    await bridge.upstreams.find((upstream) => upstream.agent === agent)?.forget(id);
  if (request.id !== null) bridge.wire.respond(request.id, "{}");
}

interface OpenReply {
  readonly conversation: OpenConversation;
  readonly ready: ReadySession | null;
  readonly meta?: Meta;
}

function answer(
  bridge: BridgeContext,
  request: HostRequest,
  { conversation, ready, meta = {} }: OpenReply,
): void {
  if (request.id !== null)
    bridge.wire.respond(
      request.id,
      ready === null
        ? JSON.stringify({ _meta: { holdfast: { agent: conversation.upstream.agent, ...meta } } })
        : openResponse(conversation, ready, { method: request.method, meta }),
    );
  conversation.view.release();
  const { commands: availableCommands } = conversation.upstream;
  if (availableCommands.length > 0)
    bridge.wire.update(conversation.id, { sessionUpdate: "available_commands_update", availableCommands });
}

/** An agent that cannot be had now must not keep people from their history; the next prompt tries again. */
async function connectIfPossible(conversation: OpenConversation): Promise<ReadySession | null> {
  try {
    return await conversation.connect();
  } catch (error) {
    if (error instanceof UpstreamFailure && error.ending.class !== "auth") return null;
    // Another host works in it just now: its history can be read all the same.
    if (isLogError(error, "busy")) return null;
    throw error;
  }
}

/** Finds the conversation, or makes it from a history the host brings or the agent has. */
async function openConversation(
  bridge: BridgeContext,
  request: HostRequest,
): Promise<{ readonly conversation: OpenConversation; readonly meta: Meta }> {
  const id = request.session;
  await checkFolder(request);
  const options = optionsIn(request);
  const history = request.value("history") ?? options["history"];
  const isStored = await exists(bridge, id);
  const historyMeta = !isStored && history !== undefined ? await createFrom(bridge, request, history) : {};
  if (!isStored && history === undefined && nativeRef(bridge, id) !== null)
    await adoptNative(bridge, id, requiredCwd(request));
  const conversation = await bridge.conversations.open(id);
  try {
    await keepParams(conversation, request);
    await moveTo(conversation, request);
  } catch (error) {
    // Another host is working in it: the params apply here and are stored with the next change.
    if (!isLogError(error, "busy")) throw error;
  }
  return { conversation, meta: isStored && history !== undefined ? { historyIgnored: true } : historyMeta };
}

/** A conversation does not follow into a folder that is not there: its agents could not work, and would lose it. */
async function checkFolder(request: HostRequest): Promise<void> {
  const cwd = request.text("cwd");
  if (cwd === null) return;
  const there = await stat(cwd).then(
    (state) => state.isDirectory(),
    () => false,
  );
  if (!there)
    throw new LogError(
      "invalid_request",
      `Folder ${cwd} not found. Open the conversation in its current folder.`,
    );
}

async function exists(bridge: BridgeContext, id: string): Promise<boolean> {
  try {
    await bridge.holdfast.conversation(id);
    return true;
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return false;
    throw error;
  }
}

async function createFrom(bridge: BridgeContext, request: HostRequest, history: Json): Promise<Meta> {
  const { messages, omitted, repairs } = readHostHistory(history);
  const entries = messages.map((message): EntryBody => ({ type: "message", message }));
  await bridge.holdfast.create({ id: request.session, cwd: requiredCwd(request), entries });
  const mended = repairs.map(({ kind, call, at, message }) => ({ kind, call, at, message }));
  return {
    ...(omitted === 0 ? {} : { historyLeftOut: omitted }),
    ...(mended.length === 0 ? {} : { historyRepaired: mended }),
  };
}

function requiredCwd(request: HostRequest): string {
  const cwd = request.text("cwd");
  if (cwd === null || cwd === "") throw new LogError("invalid_request", `${request.method} requires a cwd`);
  return cwd;
}

/** Stores the host's params for later agents; secrets stay in memory. */
async function keepParams(conversation: OpenConversation, request: HostRequest): Promise<void> {
  conversation.openedWith(request.paramsText, request.text("cwd"));
  const earlier = conversation.settings.config.mcpServers ?? [];
  const servers = withKnownTools(withoutSecrets(request.value("mcpServers") ?? null), earlier);
  const directories = request.value("additionalDirectories");
  await conversation.settings.change({
    ...(servers.length === 0 && conversation.settings.config.mcpServers === undefined
      ? {}
      : { mcpServers: servers }),
    ...(directories === undefined || directories === null ? {} : { additionalDirectories: directories }),
  });
}

async function moveTo(conversation: OpenConversation, request: HostRequest): Promise<void> {
  const cwd = request.text("cwd");
  if (cwd !== null) await conversation.moveTo(cwd);
}

/** The methods whose result has the session's id; in the others the host sent it. */
const NAMING: ReadonlySet<string> = new Set(["session/new", "session/fork"]);

/**
 * The result for a host that opened a conversation. A new session's own result passes as it came, but for its id; one
 * whose settings were replayed, or that has more to say, is made from it.
 */
function openResponse(
  conversation: OpenConversation,
  ready: ReadySession,
  reply: { readonly method: string; readonly meta: { readonly [name: string]: Json } },
): string {
  const { method, meta } = reply;
  const { session, connected } = ready;
  const { openAnswer, options } = session;
  const result =
    openAnswer === null || openAnswer.result === null
      ? null
      : readableAt(openAnswer.bytes, openAnswer.result);
  const began = fieldsOf(result);
  const own = conversation.agentOption();
  const same =
    JSON.stringify([began["modes"] ?? null, began["models"] ?? null, began["configOptions"] ?? null]) ===
    JSON.stringify([options.modes, options.models, options.options]);
  if (
    method === "session/new" &&
    own === null &&
    same &&
    Object.keys(meta).length === 0 &&
    connected.reason === "first" &&
    openAnswer?.result
  )
    return spliceWithin(
      openAnswer.bytes,
      openAnswer.result,
      rewriteIds(openAnswer, session.id, conversation.id),
    );
  const { sessionId: _, _meta, ...rest } = began;
  const modes = options.modes === null ? {} : { modes: options.modes };
  const models = options.models === null ? {} : { models: options.models };
  const configOptions = withAgentOption(options.options, own);
  const { agent, fidelity } = connected;
  return JSON.stringify({
    ...(NAMING.has(method) ? { sessionId: conversation.id } : {}),
    ...rest,
    ...modes,
    ...models,
    ...(configOptions === null ? {} : { configOptions }),
    _meta: { ...fieldsOf(_meta), holdfast: { agent, fidelity, ...meta } },
  });
}
