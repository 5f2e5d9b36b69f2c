import { LogError } from "#log/errors";
import type { Entry, EntryBody, EntryOf } from "#log/entry";
import { type ToolCall, textOfBlocks } from "#log/message";
import { turnMessages } from "#turn/rules/turn-record";
import { unrecordedEvents } from "#upstream/rules/agent-record";
import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import { bounded } from "./bounded.ts";
import { type Clock, NEVER } from "#conversation/clock";
import { inPlace, settleKey } from "#turn/settle";
import type { NativeMessage, Upstream } from "#upstream/upstream";

const ENTRIES_READ_MAX = 10_000;

interface AdoptUnheardInput {
  readonly conversation: Conversation;
  readonly owner: Owner;
  readonly upstreams: readonly Upstream[];
  readonly clock: Clock;
  readonly resumeMs: number;
  newId(): string;
}

/** The last turn, which was cut off, and who carried it. */
interface CutOff {
  readonly start: EntryOf<"turn_start">;
  readonly end: EntryOf<"turn_end">;
  /** Null when it is not one of those there are now. */
  readonly upstream: Upstream | null;
  readonly session: string;
}

/**
 * Takes over what the agent's own record has of a turn that was cut off and nobody heard: an effect that only the agent
 * knows of is an effect, and belongs into the log before anything else is sent. True when there was something.
 */
export async function adoptUnrecorded(parts: AdoptUnheardInput, facts: readonly Entry[]): Promise<boolean> {
  const cut = cutOffTurn(facts, parts.upstreams);
  const record = cut === null ? null : await readRecord(parts, cut);
  if (cut === null || record === null) return false;
  const { conversation } = parts;
  const entries = await conversation.read({
    after: cut.start.seq - 1,
    limit: ENTRIES_READ_MAX,
    types: ["tool_intent", "message"],
  });
  const { prompt } = cut.start;
  const promptText = prompt === undefined ? null : lastText(await conversation.entry(prompt));
  if (promptText === null) return false;
  const events = unrecordedEvents(record, {
    prompt: promptText,
    isKnown: intentMatcher(entries),
    text: receivedText(cut, entries),
  });
  if (events.length === 0) return false;
  const { turn } = cut.start;
  const intents = events.flatMap((event): readonly EntryBody[] => {
    if (event.type !== "tool" || event.state !== "started") return [];
    const { call, name, input } = event;
    return [{ type: "tool_intent", call, name, input, replay: "never", turn }];
  });
  const nodes = turnMessages(events, { model: null, stopReason: "interrupted" }).map((body) =>
    Object.assign(body, { id: parts.newId() }),
  );
  const under = cut.end.node ?? cut.start.prompt;
  await parts.owner.append([...intents, ...(await inPlace(parts, nodes, under))]);
  return true;
}

/**
 * Whether the last turn may have had an effect that nothing tells of: who had sent it died before hearing all, and the
 * agent acts in a process of its own. Its record does not vouch for the opposite: what kills a host may cut that, too. An
 * agent in our process acts only after its intent.
 */
export async function mayHaveActed(input: AdoptUnheardInput, facts: readonly Entry[]): Promise<boolean> {
  const cut = cutOffTurn(facts, input.upstreams);
  if (cut === null || (cut.upstream !== null && cut.upstream.toolsElsewhere !== true)) return false;
  return (await input.conversation.findAppend(settleKey(cut.start.turn))) !== null;
}

function cutOffTurn(facts: readonly Entry[], upstreams: readonly Upstream[]): CutOff | null {
  const start = facts.findLast((fact) => fact.type === "turn_start");
  const end = facts.findLast((fact) => fact.type === "turn_end" && fact.turn === start?.turn);
  const sent = facts.findLast((fact) => fact.type === "attempt" && fact.turn === start?.turn);
  if (start === undefined || end?.type !== "turn_end" || sent?.type !== "attempt") return null;
  if (end.outcome !== "interrupted" || sent.upstream === undefined) return null;
  const link = facts.findLast((fact) => fact.type === "upstream_link" && fact.upstream === sent.upstream);
  const upstream = upstreams.find(
    ({ agent, account }) =>
      link?.type === "upstream_link" && agent === link.agent && account === (link.account ?? null),
  );
  return { start, end, upstream: upstream ?? null, session: end.upstream ?? sent.upstream };
}

/** What cannot be read cannot be taken over, whatever the reason: it must not keep a prompt from being sent. */
async function readRecord(input: AdoptUnheardInput, cut: CutOff): Promise<readonly NativeMessage[] | null> {
  const settings = { conversation: input.conversation.id, cwd: null, model: null, config: {}, usedAt: null };
  const { upstream, session } = cut;
  if (upstream?.history === undefined) return null;
  return bounded({ ...input, cancelled: NEVER }, upstream.history(session, settings)).catch(() => null);
}

function lastText(entry: Entry): string | null {
  if (entry.type !== "message") return null;
  return entry.message.content.findLast((block) => block.type === "text")?.text ?? null;
}

/** By its id, or as one that does the same: not every record keeps the ids that were told. */
function intentMatcher(
  entries: readonly Entry[],
): (call: Pick<ToolCall, "id" | "name" | "input">) => boolean {
  const intents = entries.filter((entry) => entry.type === "tool_intent");
  return (call) => {
    const index = intents.findIndex(
      (intent) =>
        intent.call === call.id ||
        (intent.name === call.name && JSON.stringify(intent.input) === JSON.stringify(call.input)),
    );
    if (index !== -1) intents.splice(index, 1);
    return index !== -1;
  };
}

/**
 * Words are wanted only where whoever heard them died: otherwise what was not kept was left out for a reason. And only
 * as the rest of words that were kept: an answer of which nothing was, may have been held back as an old one.
 */
function receivedText({ end }: CutOff, entries: readonly Entry[]): string | null {
  const text = textOfBlocks(
    entries.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant" ? entry.message.content : [],
    ),
  );
  return end.class === "crashed" && text !== "" ? text : null;
}

export function maybeDone(): LogError {
  return new LogError(
    "invalid_request",
    "The process that sent this prompt exited while the agent was working, so the outcome of its tool calls is unknown. Check the effects of the turn, then send a new prompt.",
  );
}
