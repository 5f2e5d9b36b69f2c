import type { EntryBody } from "#log/entry";
import type { EndingClass } from "#log/ending-class";
import type { ContentBlock } from "#log/message";
import { keepImages, withImages } from "#conversation/image-blobs";
import type { Conversation } from "#conversation/conversation";
import { type Ending, nextStep } from "#turn/rules/ending";
import { attemptEnd } from "#turn/rules/attempt-record";
import { Recorder } from "#turn/recorder";
import type { Asked, ModelAnswer, ModelEvent } from "#agent/models/model-answer";
import { askModel } from "#agent/models/ask-model";
import type { AgentModel } from "#agent/models/model";
import { buildPrompt } from "#agent/prompt/build-prompt";
import { toolsOfRun } from "#agent/runs/loop-run";
import { readSent } from "#agent/runs/sent-messages";
import { turnTools } from "#agent/tools/turn-tools";
import { saysNothing } from "#agent/rules/answer-entries";
import { compactIfDue, compactNow } from "./compact-in-turn.ts";
import { countUsage, type LoopTurn, tell, write } from "./loop-turn.ts";
import { isMedia } from "#log/blob-names";
import { decodeEntry } from "#log/codec";
import type { ContextMessage } from "#log/projections/pairs";
import { labelOf } from "#agent/models/parts/media-parts";

/** An answer, or why there is none and what had come of it. */
export type StepAsked =
  | { readonly answer: ModelAnswer; readonly ending: null }
  | { readonly answer: null; readonly ending: Ending; readonly partial: readonly ContentBlock[] };

/** Asks for one answer, as often as the table of endings says: a model call does nothing in the world. */
export async function askStep(at: LoopTurn): Promise<StepAsked> {
  const { work, options } = at;
  let [backoffs, recovered] = [at.progress.unanswered, false];
  at.progress.unanswered = 0;
  at.progress.steps++;
  for (let isFirst = true; ; isFirst = false) {
    const asked = await attempt(at, isFirst);
    countUsage(at.progress, asked.answer === null ? asked.usage : asked.answer.usage);
    if (asked.answer !== null && !isEmpty(asked.answer)) return asked;
    const ending: Ending = asked.ending ?? { class: "empty", message: EMPTY, resetAtMs: null };
    const waitMs = ending.resetAtMs === null ? null : ending.resetAtMs - options.clock.nowMs();
    const limitIsShort = waitMs !== null && waitMs <= options.waitForLimitMs;
    const facts = { ...IN_LOOP, recovered, backoffs, limitIsShort };
    const other = fallbackFor(at, asked, ending);
    if (other !== null) {
      await write(at, givenUp(at, asked, ending));
      tell(work, {
        type: "lost",
        class: ending.class,
        message: `${ending.message}. ${other.id} is asked instead`,
      });
      at.progress.model = other;
      backoffs = 0;
      continue;
    }
    const next = work.cancelled.aborted ? null : nextStep(ending.class, facts);
    if (next === null || next.do === "finish" || next.do === "park" || next.do === "ask_auth") {
      if (asked.answer !== null) return asked;
      await write(at, givenUp(at, asked, ending));
      return { answer: null, ending, partial: asked.partial };
    }
    await write(at, givenUp(at, asked, ending));
    if (next.do === "back_off") {
      backoffs++;
      const delayMs = Math.max(next.delayMs, Math.min(waitMs ?? 0, options.waitForLimitMs));
      tell(work, { type: "backing_off", delayMs, message: ending.message });
      await options.clock.sleep(delayMs, work.cancelled);
    } else {
      recovered = true;
      tell(work, { type: "lost", class: ending.class, message: ending.message });
      // The same request would fail again: there is less to say, or nothing to be done.
      if (ending.class === "too_long" && !(await compactNow(at, 0)))
        return { answer: null, ending, partial: [] };
      if (ending.class === "poisoned" && !at.progress.showsMedia)
        return { answer: null, ending, partial: [] };
    }
  }
}

const EMPTY = "The model gave an empty answer";

function isEmpty({ content, finish }: ModelAnswer): boolean {
  return finish !== "filtered" && finish !== "length" && finish !== "paused" && saysNothing(content);
}

/** A model call starts no tool and has no session. */
const IN_LOOP = { toolStarted: false, cancelConfirmed: true, promptPoisoned: false, failedBefore: false };

const ELSEWHERE: ReadonlySet<EndingClass> = new Set(["overloaded", "limit", "credit"]);

/** Who is asked in place of a model that cannot answer; null where there is nobody, or a part of its answer was shown. */
function fallbackFor(at: LoopTurn, asked: Asked, ending: Ending): AgentModel | null {
  if (asked.answer !== null || asked.partial.length > 0 || at.work.cancelled.aborted) return null;
  return ELSEWHERE.has(ending.class)
    ? (at.fallbacks[at.fallbacks.indexOf(at.progress.model) + 1] ?? null)
    : null;
}

/** What an attempt used that left no message. */
function givenUp(at: LoopTurn, asked: Asked, ending: Ending): readonly EntryBody[] {
  const usage = asked.answer === null ? asked.usage : asked.answer.usage;
  const end = { turn: at.turn, class: ending.class, model: at.progress.model.id };
  const bodies = attemptEnd({ ...end, upstream: null, usage });
  // From here on the model is not shown again what was refused, whether or not anybody counted it.
  const isRefused = ending.class === "poisoned" && at.progress.showsMedia;
  // The log says why another model answered.
  const isReplaced = fallbackFor(at, asked, ending) !== null;
  return bodies.length === 0 && (isRefused || isReplaced) ? [{ type: "attempt_end", ...end }] : bodies;
}

async function attempt(at: LoopTurn, isFirst: boolean): Promise<Asked> {
  const { work, options, turn } = at;
  const { model } = at.progress;
  const { conversation, owner, cancelled, warm } = work;
  // Right after a batch of the turn nothing has to be asked for; whoever was waited for may have let others write.
  const context = isFirst ? await warm.context.owned() : (await warm.context.now()).context;
  let sent = await readSent(conversation, at.run, { context });
  at.progress.state ??= context.state;
  at.progress.skills ??= context.skills;
  if (options.servers !== null)
    at.tools = toolsOfRun(
      await turnTools(options, { cwd: at.cwd, conversation: conversation.id, memory: at.memory }),
      at.run,
    );
  const prompt = await buildPrompt(at, { ...sent, skills: context.skills });
  if (await compactIfDue(at, sent.messages, prompt.tokens))
    sent = await readSent(conversation, at.run, await warm.context.now());
  const recorder = new Recorder(owner, turn, options.clock);
  // A model call does nothing in the world: it is made while its record is written, which is as durable as what comes of it.
  recorder.begin({
    type: "attempt",
    turn,
    model: model.id,
    promptDigest: prompt.promptDigest,
    toolsDigest: prompt.toolsDigest,
  });
  at.progress.attempts++;
  tell(work, { type: "step", step: at.progress.steps, model: model.id });
  const onEvent = (event: ModelEvent): void => {
    if (event.type === "call") return;
    tell(work, { type: "update", event });
    recorder.add(event);
    recorder.check();
  };
  const shown = await shownMessages(conversation, sent.messages, model.id);
  at.progress.showsMedia = shown.hasMedia;
  const request = {
    system: prompt.system,
    tools: prompt.tools,
    messages: shown.messages,
    reminder: prompt.reminder,
    cacheKey: await warm.root(owner.acquiredHead),
  };
  const { silenceMs, clock } = options;
  const asked = await askModel(model, request, { signal: cancelled, onEvent, silenceMs, clock });
  await (asked.answer === null ? recorder.settled() : recorder.superseded());
  return withoutBytes(conversation, asked);
}

/** Files that a model has made are kept as blobs, as those of people are. */
async function withoutBytes({ space, id }: Conversation, asked: Asked): Promise<Asked> {
  const { answer } = asked;
  if (answer === null) return { ...asked, partial: await keepImages(space, id, asked.partial) };
  return { ...asked, answer: { ...answer, content: await keepImages(space, id, answer.content) } };
}

const ENDS_LOOKED_AT = 256;
const MESSAGES_MAX = 100_000;

/** What a model is shown, and whether files are among it. */
interface ShownMessages {
  readonly messages: readonly ContextMessage[];
  readonly hasMedia: boolean;
}

/**
 * The messages with the bytes of their files in them. What was there when this model's service refused a request for what it was shown
 * is named in words from then on: one broken image must not fail every request to come.
 */
async function shownMessages(
  conversation: Conversation,
  messages: readonly ContextMessage[],
  model: string,
): Promise<ShownMessages> {
  if (!messages.some(({ content }) => content.some(isMedia))) return { messages, hasMedia: false };
  const isLeftOut = await refusedBefore(conversation, model);
  const shown: ContextMessage[] = [];
  let hasMedia = false;
  for (const message of messages) {
    if (!message.content.some(isMedia)) shown.push(message);
    else if (isLeftOut(message)) shown.push({ ...message, content: message.content.map(named) });
    else {
      hasMedia = true;
      const content = await withImages(conversation.space, conversation.id, message.content);
      shown.push({ ...message, content });
    }
  }
  return { messages: shown, hasMedia };
}

function named(block: ContentBlock): ContentBlock {
  if (!isMedia(block)) return block;
  return { type: "text", text: `[${labelOf(block)}: left out, for a request with it was refused]` };
}

/** Which messages were there when a request was refused; none where that never happened. */
async function refusedBefore(
  { space, id: conversation }: Conversation,
  model: string,
): Promise<(message: ContextMessage) => boolean> {
  const types = ["attempt_end"] as const;
  const ends = await space.read({ conversation, types, newestFirst: true, limit: ENDS_LOOKED_AT });
  const refused = ends
    .map((stored) => decodeEntry(stored))
    .find((end) => end.type === "attempt_end" && end.class === "poisoned" && end.model === model);
  if (refused === undefined) return () => false;
  const after = refused.seq;
  const later = await space.read({ conversation, after, limit: MESSAGES_MAX, types: ["message"] });
  const newer = new Set<string>(later.map(({ id }) => id));
  return ({ entryId }) => entryId === null || !newer.has(entryId);
}
