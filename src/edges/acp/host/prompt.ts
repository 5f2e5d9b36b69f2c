import { textOfBlocks } from "#log/message";
import { keepBase64 } from "#conversation/image-blobs";
import type { ConversationId } from "#log/ids";
import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";
import { promptTitle } from "#log/title";
import type { Json } from "#log/json/json-text";
import type { SendOptions } from "#upstream/options";
import { checkContent } from "#turn/accept";
import type { BridgeTurn } from "#edges/acp/bridge-agents";
import { AGENT_COMMAND, agentNames } from "./bridge-parts.ts";
import type { HostPrompt, OpenConversation } from "./open-conversation.ts";
import type { BridgeContext } from "./open-conversations.ts";
import { contentOf, isPlain, withoutData } from "./updates.ts";
import { type HostRequest, findLink, findPrompt, optionsIn } from "./host-request.ts";
import { errorOf, messageIn, turnError } from "./host-wire.ts";
import { rewriteIds, spliceWithin, withMeta } from "#edges/acp/wire/splice";
import type { Message } from "#edges/acp/wire/spans";
import { switchAgent } from "./session-settings.ts";
import { LogError, isLogError } from "#log/errors";

/** Prompts of one conversation run one after the other, as the host sent them. */
export async function prompt(bridge: BridgeContext, request: HostRequest): Promise<void> {
  const conversation = await bridge.conversations.open(request.session);
  const value = request.value("prompt");
  if (!Array.isArray(value)) throw new LogError("invalid_request", "session/prompt requires a prompt");
  const blocks = value as readonly Json[];
  checkContent(contentOf(blocks));
  const options = optionsIn(request);
  await conversation.queuePrompt(async (wasCancelled) => {
    const isCancelled = (): boolean => request.isWithdrawn || wasCancelled();
    const starting = await fromOf(bridge, conversation, options);
    const details = await detailsOf(bridge, conversation.id, blocks);
    if (bridge.conversations.isClosed || isCancelled())
      return respond(bridge, request, `{"stopReason":"cancelled"}`);
    const name = agentCommandIn(bridge, blocks);
    if (name !== null) return runAgentCommand(bridge, conversation, request, name);
    const sending = {
      content: contentOf(blocks),
      wire: request.message,
      ...starting,
      ...details,
      whenLimited: bridge.onLimit,
      force: options["force"] === true,
    };
    return send(bridge, conversation, request, sending, isCancelled);
  });
}

function respond(bridge: BridgeContext, request: HostRequest, result: string): void {
  if (request.id !== null) bridge.wire.respond(request.id, result);
}

/** The name in `/agent NAME`, which is ours where there is more than one; null for any other prompt. */
function agentCommandIn(bridge: BridgeContext, blocks: readonly Json[]): string | null {
  const { type, text } = fieldsOf(blocks[0] ?? null);
  if (bridge.upstreams.length < 2 || blocks.length !== 1 || type !== "text" || typeof text !== "string")
    return null;
  const match = new RegExp(`^/${AGENT_COMMAND}(?:\\s+(\\S+))?\\s*$`).exec(text.trim());
  return match === null ? null : (match[1] ?? "");
}

async function runAgentCommand(
  bridge: BridgeContext,
  conversation: OpenConversation,
  request: HostRequest,
  name: string,
): Promise<void> {
  const names = agentNames(bridge);
  const say = (text: string): void =>
    bridge.wire.update(conversation.id, {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
    });
  if (names.includes(name)) {
    const note = await switchAgent(bridge, conversation, name);
    conversation.tellOptions();
    say(`${name} runs this conversation from now on. ${note}`.trim());
  } else
    say(
      `${name === "" ? "" : `Unknown agent "${name}". `}Agents: ${names.join(", ")}. Active: ${conversation.upstream.agent}. Use /agent NAME to switch.`,
    );
  respond(bridge, request, `{"stopReason":"end_turn"}`);
}

/** Where the prompt continues from: `edit`, `resume` or `fork` in `_meta.holdfast`. */
async function fromOf(
  bridge: BridgeContext,
  conversation: OpenConversation,
  { edit, resume, fork }: Fields,
): Promise<Required<Pick<SendOptions, "agent">> & Pick<SendOptions, "from">> {
  const { agent } = conversation.upstream;
  if (edit === undefined && resume === undefined)
    return fork === true ? { agent, from: { fork } } : { agent };
  const stored = await bridge.holdfast.conversation(conversation.id);
  if (edit !== undefined) {
    const entry = await findPrompt(stored, edit);
    if (entry === null)
      throw new LogError("invalid_request", `Message ${wordsIn(edit)} not found, so it cannot be edited`);
    return { agent, from: { edit: entry } };
  }
  const link = await findLink(stored, resume ?? null);
  if (link === null)
    throw new LogError(
      "invalid_request",
      `Session ${wordsIn(resume)} not found in this conversation's session history`,
    );
  return { agent: link.agent, from: { upstream: link.id } };
}

/** The host's prompt, unless the log can rebuild it from its own content; large parts as blobs. */
async function detailsOf(
  bridge: BridgeContext,
  id: ConversationId,
  blocks: readonly Json[],
): Promise<Pick<SendOptions, "details">> {
  if (isPlain(blocks)) return {};
  const conversation = bridge.holdfast.handle(id);
  const stored = await withoutData(blocks, (text) => keepBase64(conversation, text));
  return { details: { acp: { prompt: stored } } };
}

async function send(
  bridge: BridgeContext,
  conversation: OpenConversation,
  request: HostRequest,
  sending: HostPrompt,
  isCancelled: () => boolean,
): Promise<void> {
  try {
    request.onWithdrawn = () => conversation.cancelTurn();
    const result = await conversation.send(sending, isCancelled);
    if (result.isCommand !== true) await nameByPrompt(conversation, sending);
    answer(bridge, conversation, request, result);
    if (result.upstream !== null && result.outcome !== "interrupted")
      void conversation.upstream.turnEnded(result.upstream);
  } catch (error) {
    const failure = await withWriter(bridge, conversation.id, error);
    if (request.id !== null) bridge.wire.fail(request.id, errorOf(failure, conversation.id));
  } finally {
    conversation.promptShown();
  }
}

/** A conversation without a title is called by its first words. */
async function nameByPrompt(conversation: OpenConversation, { content }: HostPrompt): Promise<void> {
  if (conversation.title.title !== null || typeof content === "string") return;
  const title = promptTitle(textOfBlocks(content, " "));
  if (title !== null) await conversation.setTitle(title);
}

function answer(
  bridge: BridgeContext,
  conversation: OpenConversation,
  request: HostRequest,
  result: BridgeTurn,
): void {
  if (request.id === null) return;
  if (result.stop !== undefined) return bridge.wire.respond(request.id, stopText(result.stop));
  const response = messageIn(result.end);
  const ids = { from: result.upstream, to: conversation.id };
  if (result.outcome === "completed" && response !== null && response.result !== null) {
    const edits = ids.from === null ? [] : rewriteIds(response, ids.from, ids.to);
    const meta =
      result.class === "completed"
        ? []
        : withMeta(response.bytes, response.result, "_meta", { class: result.class });
    bridge.wire.respond(request.id, spliceWithin(response.bytes, response.result, [...edits, ...meta]));
  } else if (result.outcome === "completed") bridge.wire.respond(request.id, completed(result));
  else if (result.class === "cancelled") bridge.wire.respond(request.id, cancelled(response));
  else bridge.wire.fail(request.id, turnError(result, conversation.upstream.agent, ids));
}

function stopText({ reason: stopReason, usage, meta }: NonNullable<BridgeTurn["stop"]>): string {
  return JSON.stringify({
    stopReason,
    ...(usage === undefined ? {} : { usage }),
    ...(meta === undefined ? {} : { _meta: { holdfast: meta } }),
  });
}

const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal"] as const;

/** For an agent that does not speak the host's protocol. */
function completed({ class: endingClass, end }: BridgeTurn): string {
  const stopReason = STOP_REASONS.find((reason) => reason === end?.stopReason) ?? "end_turn";
  const meta = endingClass === "completed" ? {} : { _meta: { holdfast: { class: endingClass } } };
  return JSON.stringify({ stopReason, ...meta });
}

/** The agent's own words where it confirmed the cancel. */
function cancelled(response: Message | null): string {
  const text =
    response === null || response.result === null ? "" : spliceWithin(response.bytes, response.result, []);
  return text.includes(`"cancelled"`) ? text : `{"stopReason":"cancelled"}`;
}

const PROCESS = /^(.*?) \(process (\d+),/s;

/** Who is working in the conversation, since when, and what the user can do; other errors unchanged. */
async function withWriter(
  bridge: BridgeContext,
  conversation: ConversationId,
  error: unknown,
): Promise<unknown> {
  const writer = isLogError(error, "busy") ? error.details["writer"] : undefined;
  if (!isLogError(error) || typeof writer !== "string") return error;
  const [, program = writer, pid] = PROCESS.exec(writer) ?? [];
  const who = program === "holdfast acp" ? "Another window" : program;
  const where = pid === undefined ? "" : ` (process ${pid})`;
  const since = await lastStart(bridge, conversation);
  const message =
    `${who}${where} is running a turn in this conversation${since === null ? "" : ` since ${since}`}. ` +
    "Your prompt was not sent. Wait until that turn ends (you see it here too) or stop it there, then send again.";
  return new LogError(
    "busy",
    message,
    { ...error.details, ...(since === null ? {} : { since }) },
    { safe: "" },
  );
}

async function lastStart(bridge: BridgeContext, conversation: ConversationId): Promise<string | null> {
  const log = bridge.holdfast.handle(conversation);
  const start = await log.latest(["turn_start"]).catch(() => null);
  return start?.time ?? null;
}
