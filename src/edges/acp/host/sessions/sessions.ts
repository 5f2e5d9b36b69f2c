import { cwdOf } from "#log/projections/settings";
import { stat } from "node:fs/promises";
import type { Conversation } from "#conversation/conversation";
import { UpstreamFailure } from "#sending/upstream";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { contentOf } from "./blocks.ts";
import type { Desk } from "#edges/acp/host/desk";
import { findMessage } from "./find-message.ts";
import type { Floor, Ready } from "#edges/acp/host/floor";
import { withoutSecrets } from "./mcp-servers.ts";
import { adoptNative, nativeRef } from "./native-history.ts";
import { ShownHistory } from "./shown-history.ts";
import type { HostRequest } from "#edges/acp/host/wire/requests";
import { BadRequest } from "#edges/acp/host/wire/rpc-error";
import { forkedNotice } from "#edges/acp/host/notices";
import { NOT_UNDONE } from "#transfer/words";
import { OtherTurns } from "#edges/acp/host/other-turns";
import { openResult } from "#edges/acp/host/state";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

type Word = { readonly [name: string]: Json };

export async function newSession(floor: Floor, request: HostRequest): Promise<void> {
  const cwd = cwdGiven(request);
  // An agent that cannot even be started leaves nothing behind.
  await floor.agents[0].start();
  const conversation = await floor.holdfast.create({ cwd });
  const desk = await floor.desk(conversation.id);
  try {
    await keepParams(desk, request);
    const ready = await floor.connect(desk);
    const { headSeq: seq } = await conversation.head();
    answer(floor, request, { desk, ready });
    followOthers(floor, desk, seq);
  } catch (error) {
    // Nothing is erased unasked. What never had a session is not listed, and is taken up if the host comes back to it.
    floor.clear(desk.id);
    throw error;
  }
}

/**
 * Replays the history from the log, then answers. The agent's own replay, if any, is not shown. The history is on its way
 * while the agent gets its session ready; what that brings to light, such as turns made elsewhere, follows it.
 */
export async function loadSession(floor: Floor, request: HostRequest): Promise<void> {
  const { desk, word } = await openDesk(floor, request);
  const history = new ShownHistory(floor, desk);
  const [connected, shown] = await Promise.allSettled([connectIfPossible(floor, desk), history.show()]);
  if (connected.status === "rejected") throw connected.reason;
  if (shown.status === "rejected") throw shown.reason;
  const ready = connected.value;
  const seq = await history.show();
  const wanted = { conversation: desk.id, types: ["plan"], newestFirst: true, limit: 1 } as const;
  const [stored] = await floor.holdfast.space.read(wanted);
  const plan = stored === undefined ? null : decodeEntry(stored);
  if (plan?.type === "plan" && plan.data !== undefined) floor.wire.update(desk.id, fieldsOf(plan.data));
  answer(floor, request, { desk, ready, word });
  followOthers(floor, desk, seq);
  tellLoss(floor, desk, ready);
}

/** From here on the host is shown what others do in the conversation. */
function followOthers(floor: Floor, desk: Desk, seq: number): void {
  desk.others ??= new OtherTurns(floor, desk);
  desk.others.follow(seq);
}

export async function resumeSession(floor: Floor, request: HostRequest): Promise<void> {
  const { desk, word } = await openDesk(floor, request);
  const ready = await connectIfPossible(floor, desk);
  const { headSeq: seq } = await floor.holdfast.space.head(desk.id);
  answer(floor, request, { desk, word, ready });
  followOthers(floor, desk, seq);
  tellLoss(floor, desk, ready);
}

/** The session that carried the conversation was found to be gone, and the next prompt will not say so any more. */
function tellLoss(floor: Floor, desk: Desk, ready: Ready | null): void {
  if (ready === null) return;
  const { reason, fidelity, silent, told } = ready.connected;
  if (silent || reason === null || fidelity === "native") return;
  const about = { conversation: desk.id, upstream: null, restored: 0 };
  floor.host(desk).onEvent({ type: "session", ...about, reason, fidelity, silent, told });
}

export async function forkSession(floor: Floor, request: HostRequest): Promise<void> {
  const source = await floor.holdfast.conversation(request.session);
  const from = await floor.desk(source.id);
  const asked =
    request.text("_meta", "holdfast", "at") ?? request.text("_meta", "jetbrains", "air", "fork", "messageId");
  const at = asked === null ? null : await findMessage(source, asked);
  if (asked !== null && at === null)
    throw new BadRequest(`There is no message ${asked} in this conversation`);
  const cwd = request.text("cwd");
  await checkFolder(request);
  const { agent } = floor.agentOf(from);
  // What the host gives with the fork is there before the agent forks: its servers are those of this session.
  const prepare = async (child: Conversation): Promise<void> => {
    const desk = await floor.desk(child.id);
    await keepParams(desk, request);
    await follow(floor, desk, request);
  };
  const places = { ...(at === null ? {} : { at }), ...(cwd === null ? {} : { cwd }) };
  const forked = await floor.runtime.fork(source.id, { agent, ...places, prepare }, floor.host(from));
  const desk = await floor.desk(forked.conversation.id);
  const word = { source: source.id, notUndone: NOT_UNDONE };
  const ready = await floor.connect(desk);
  const { headSeq: seq } = await floor.holdfast.space.head(desk.id);
  answer(floor, request, { desk, ready, word });
  followOthers(floor, desk, seq);
  floor.tell(desk, forkedNotice(source.id), "thought");
}

/** `_holdfast/chain`: the sessions that carried a conversation, by the number `resume` knows them by; never their ids. */
export async function chainOfSession(floor: Floor, request: HostRequest): Promise<void> {
  const conversation = await floor.holdfast.conversation(request.session);
  const links = (await conversation.chain())
    .filter((link) => !link.inherited)
    .map(({ agent, reason, since }, at) => ({ link: at + 1, agent, reason, since }));
  if (request.id !== null) floor.wire.respond(request.id, JSON.stringify({ links }));
}

export async function closeSession(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  floor.cancel(desk);
  await desk.line;
  await floor.runtime.release(desk.id);
  floor.clear(desk.id);
  if (request.id !== null) floor.wire.respond(request.id, "{}");
}

/** The host's explicit act: the conversation is gone for good, and so are the agent's sessions as far as it can. */
export async function deleteSession(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  const conversation = await floor.holdfast.conversation(desk.id);
  floor.cancel(desk);
  await desk.line;
  await floor.runtime.release(desk.id);
  const links = (await conversation.chain()).filter((link) => !link.inherited);
  await conversation.erase();
  floor.clear(desk.id);
  for (const { agent, id } of links)
    await floor.agents.find((upstream) => upstream.agent === agent)?.forget(id);
  if (request.id !== null) floor.wire.respond(request.id, "{}");
}

interface Opened {
  readonly desk: Desk;
  readonly ready: Ready | null;
  readonly word?: Word;
}

function answer(floor: Floor, request: HostRequest, { desk, ready, word = {} }: Opened): void {
  if (request.id !== null)
    floor.wire.respond(
      request.id,
      ready === null
        ? JSON.stringify({ _meta: { holdfast: { agent: floor.agentOf(desk).agent, ...word } } })
        : openResult(floor, desk, ready, { method: request.method, word }),
    );
  floor.openGate(desk);
}

/** An agent that cannot be had now must not keep people from their history; the next prompt tries again. */
async function connectIfPossible(floor: Floor, desk: Desk): Promise<Ready | null> {
  try {
    return await floor.connect(desk);
  } catch (error) {
    if (error instanceof UpstreamFailure && error.ending.class !== "auth") return null;
    // Another host works in it just now: its history can be read all the same.
    if (isLogError(error, "busy")) return null;
    throw error;
  }
}

/** Finds the conversation, or makes it from a history the host brings or the agent has. */
async function openDesk(
  floor: Floor,
  request: HostRequest,
): Promise<{ readonly desk: Desk; readonly word: Word }> {
  const id = request.session;
  await checkFolder(request);
  const history = request.value("history") ?? request.value("_meta", "holdfast", "history");
  const known = await exists(floor, id);
  if (!known && history !== undefined) await createFrom(floor, request, history);
  else if (!known && nativeRef(floor, id) !== null) await adoptNative(floor, id, cwdGiven(request));
  const desk = await floor.desk(id);
  await keepParams(desk, request);
  await follow(floor, desk, request);
  return { desk, word: known && history !== undefined ? { historyIgnored: true } : {} };
}

/** A conversation does not follow into a folder that is not there: its agents could not work, and would lose it. */
async function checkFolder(request: HostRequest): Promise<void> {
  const cwd = request.text("cwd");
  if (cwd === null) return;
  const there = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!there)
    throw new BadRequest(
      `There is no folder ${cwd}; nothing was changed. Open the conversation in the folder it works in now`,
    );
}

async function exists(floor: Floor, id: string): Promise<boolean> {
  try {
    await floor.holdfast.conversation(id);
    return true;
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return false;
    throw error;
  }
}

async function createFrom(floor: Floor, request: HostRequest, history: Json): Promise<void> {
  const entries = listIn(history).map((item): EntryBody => {
    const { role, content } = item;
    if (role !== "user" && role !== "assistant")
      throw new BadRequest(`A history has the roles user and assistant, not ${wordsIn(role)}`);
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
    return { type: "message", message: { role, content: contentOf(blocks) } };
  });
  await floor.holdfast.create({ id: request.session, cwd: cwdGiven(request), entries });
}

function listOf(content: Json | undefined): readonly Json[] {
  if (Array.isArray(content)) return content as readonly Json[];
  return content === undefined || content === null ? [] : [content];
}

function cwdGiven(request: HostRequest): string {
  const cwd = request.text("cwd");
  if (cwd === null || cwd === "") throw new BadRequest(`${request.method} needs a cwd`);
  return cwd;
}

/** What the host gives with a session is kept for the agents to come, its secrets in memory only. */
async function keepParams(desk: Desk, request: HostRequest): Promise<void> {
  desk.params = request.paramsText;
  const servers = withoutSecrets(request.value("mcpServers") ?? null);
  const directories = request.value("additionalDirectories");
  await desk.change({
    ...(servers.length === 0 && desk.config["mcpServers"] === undefined ? {} : { mcpServers: servers }),
    ...(directories === undefined || directories === null ? {} : { additionalDirectories: directories }),
  });
}

/** A conversation follows its project. An agent whose sessions stay where they began starts a new one there. */
async function follow(floor: Floor, desk: Desk, request: HostRequest): Promise<void> {
  const conversation = await floor.holdfast.conversation(desk.id);
  const recorded = cwdOf(desk.config, (await conversation.head()).cwd);
  const cwd = request.text("cwd");
  if (cwd === null || cwd === recorded) return;
  await floor.runtime.release(desk.id);
  // Nobody said where it was before: it has not moved.
  const links = recorded === null ? [] : await conversation.chain();
  for (const { id, agent, inherited } of links) {
    const upstream = floor.agents.find((one) => one.agent === agent);
    if (!inherited && upstream?.native?.move === undefined) await conversation.endUpstream(id, "cwd_changed");
  }
  await desk.moveTo(cwd);
}
