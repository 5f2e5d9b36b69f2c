import type { HostEvent } from "#turn/host";
import type { SendRequest } from "#sending/options";
import type { SendResult } from "#sending/turn";
import type { Json } from "#log/json/json-text";
import type { Message } from "#edges/acp/wire/spans";
import { spliceWithin } from "#edges/acp/wire/splice";
import { keepBase64 } from "#conversation/images";
import { contentOf, isPlain, withoutData } from "./sessions/blocks.ts";
import { inPlainWords } from "./busy.ts";
import type { Desk } from "./desk.ts";
import { findLink, findPrompt } from "./sessions/find-message.ts";
import type { Floor } from "./floor.ts";
import type { HostRequest } from "./wire/requests.ts";
import { rewriteIds, withWord } from "./wire/rewrite.ts";
import { BadRequest, errorOf, messageIn, turnError } from "./wire/rpc-error.ts";
import { AGENT_COMMAND } from "./state.ts";
import { switchAgent, tellState } from "./switching.ts";
import { fieldsOf, wordsIn } from "#log/json/json-fields";

const TITLE_CHARS = 80;

/** Prompts of one conversation run one after the other, as the host sent them. */
export async function prompt(floor: Floor, request: HostRequest): Promise<void> {
  const desk = await floor.desk(request.session);
  const blocks = request.value("prompt");
  if (!Array.isArray(blocks)) throw new BadRequest("session/prompt needs a prompt");
  const { cancels } = desk;
  const run = desk.line.then(async () => {
    await desk.connecting;
    const starting = await fromOf(floor, desk, request);
    const details = await detailsOf(floor, desk, blocks as readonly Json[]);
    if (floor.closing || request.takenBack || desk.cancels !== cancels)
      return respond(floor, request, `{"stopReason":"cancelled"}`);
    const name = commandIn(floor, blocks);
    if (name !== null) return obey(floor, desk, request, name);
    return send(floor, desk, request, { ...starting, ...details, blocks: blocks as readonly Json[] });
  });
  desk.line = run.then(
    () => undefined,
    () => undefined,
  );
  await run;
}

function respond(floor: Floor, request: HostRequest, result: string): void {
  if (request.id !== null) floor.wire.respond(request.id, result);
}

/** `/agent NAME` is ours where there is more than one. */
function commandIn(floor: Floor, blocks: readonly unknown[]): string | null {
  const { type, text } = fieldsOf((blocks[0] ?? null) as Json);
  if (floor.agents.length < 2 || blocks.length !== 1 || type !== "text" || typeof text !== "string")
    return null;
  const found = new RegExp(`^/${AGENT_COMMAND}(?:\\s+(\\S+))?\\s*$`).exec(text.trim());
  return found === null ? null : (found[1] ?? "");
}

async function obey(floor: Floor, desk: Desk, request: HostRequest, name: string): Promise<void> {
  const names = floor.agents.map(({ agent }) => agent);
  const say = (text: string): void =>
    floor.wire.update(desk.id, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  if (names.includes(name)) {
    const carried = await switchAgent(floor, desk, name);
    tellState(floor, desk);
    say(`${name} carries this conversation on from here. ${carried}`.trim());
  } else
    say(
      `${name === "" ? "" : `There is no agent ${name}. `}The agents here are ${names.join(", ")}; ${floor.agentOf(desk).agent} is at work. Say /agent NAME.`,
    );
  respond(floor, request, `{"stopReason":"end_turn"}`);
}

/** Where the host wants the prompt to go on from: `edit`, `resume` or `fork` in `_meta.holdfast`. */
async function fromOf(floor: Floor, desk: Desk, request: HostRequest): Promise<Starting> {
  const { agent } = floor.agentOf(desk);
  const word = fieldsOf(request.value("_meta", "holdfast") ?? null);
  const { edit, resume, fork } = word;
  if (edit === undefined && resume === undefined)
    return fork === true ? { agent, from: { fork } } : { agent };
  const conversation = await floor.holdfast.conversation(desk.id);
  if (edit !== undefined) {
    const entry = await findPrompt(conversation, edit);
    if (entry === null) throw new BadRequest(`There is no message ${wordsIn(edit)} to edit here`);
    return { agent, from: { edit: entry } };
  }
  const link = await findLink(conversation, resume ?? null);
  if (link === null)
    throw new BadRequest(`There is no session ${wordsIn(resume)} in this conversation's chain`);
  return { agent: link.agent, from: { upstream: link.id } };
}

/** The prompt as the host gave it, where the log's own words for it would not do; what is large, as blobs. */
async function detailsOf(
  floor: Floor,
  { id }: Desk,
  blocks: readonly Json[],
): Promise<Pick<SendRequest, "details">> {
  if (isPlain(blocks)) return {};
  const given = await withoutData(blocks, (text) => keepBase64(floor.holdfast.space, id, text));
  return { details: { acp: { prompt: given } } };
}

type Starting = Required<Pick<SendRequest, "agent">> & Pick<SendRequest, "from" | "details">;

async function send(
  floor: Floor,
  desk: Desk,
  request: HostRequest,
  { blocks, ...starting }: Starting & { readonly blocks: readonly Json[] },
): Promise<void> {
  const sending: SendRequest = {
    content: contentOf(blocks),
    wire: request.message,
    ...starting,
    onLimit: floor.onLimit,
    force: desk.insists || request.value("_meta", "holdfast", "force") === true,
  };
  try {
    const { cancels } = desk;
    desk.stopping = false;
    desk.others?.sending();
    const host = floor.host(desk);
    request.onTakenBack = () => floor.cancelTurn(desk);
    const onEvent = (event: HostEvent): void => {
      // A cancel that came before there was anything to cancel.
      if (event.type === "accepted" && (request.takenBack || desk.cancels !== cancels))
        floor.runtime.cancel(desk.id);
      if (event.type === "accepted") desk.others?.accepted(event.turn);
      if (event.type === "continued" && starting.agent !== floor.agentOf(desk).agent)
        void desk.change({ agent: starting.agent }).catch(() => undefined);
      host.onEvent(event);
    };
    const result = await floor.runtime.send(desk.id, sending, { ...host, onEvent });
    // Limits are lifted early, too: whoever was told and asks again means it.
    desk.insists = result.class === "limit" && result.upstream === null;
    await entitle(floor, desk, sending);
    answer(floor, desk, request, result);
    if (result.upstream !== null && result.outcome !== "interrupted")
      void floor.agentOf(desk).turnEnded(result.upstream);
  } catch (error) {
    const told = await inPlainWords(floor, desk, error);
    if (request.id !== null) floor.wire.fail(request.id, errorOf(told, desk.id));
  } finally {
    void desk.others?.ended().catch(() => undefined);
    for (const upstream of floor.agents) upstream.sessionOf(desk.id)?.settled();
  }
}

/** A conversation without a title is called by its first words. */
async function entitle(floor: Floor, desk: Desk, { content }: SendRequest): Promise<void> {
  if (desk.title !== null || typeof content === "string") return;
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  const line = words.replaceAll(/\s+/g, " ").trim();
  if (line === "") return;
  await desk.entitle(floor.holdfast, line.slice(0, TITLE_CHARS).toWellFormed());
}

function answer(floor: Floor, desk: Desk, request: HostRequest, result: SendResult): void {
  if (request.id === null) return;
  const said = messageIn(result.end);
  const ids = { from: result.upstream, to: desk.id };
  if (result.outcome === "completed" && said !== null && said.result !== null) {
    const edits = ids.from === null ? [] : rewriteIds(said, ids.from, ids.to);
    const word =
      result.class === "completed" ? [] : withWord(said.bytes, said.result, "_meta", { class: result.class });
    floor.wire.respond(request.id, spliceWithin(said.bytes, said.result, [...edits, ...word]));
  } else if (result.class === "cancelled") floor.wire.respond(request.id, cancelled(said));
  else floor.wire.fail(request.id, turnError(result, floor.agentOf(desk).agent, ids));
}

/** The agent's own words where it confirmed the cancel. */
function cancelled(said: Message | null): string {
  const text = said === null || said.result === null ? "" : spliceWithin(said.bytes, said.result, []);
  return text.includes(`"cancelled"`) ? text : `{"stopReason":"cancelled"}`;
}
