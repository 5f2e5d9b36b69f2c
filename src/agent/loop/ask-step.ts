import type { EntryBody } from "#log/entry";
import type { EndingClass } from "#log/ending-class";
import type { ContentBlock } from "#log/message";
import { keepImages, withImages } from "#conversation/image-blobs";
import type { Conversation } from "#conversation/conversation";
import { type Ending, nextStep } from "#turn/rules/ending";
import { attemptEnd } from "#turn/rules/attempt-record";
import { Recorder } from "#turn/recorder";
import type { ModelOutcome, ModelAnswer, ModelEvent, AgentModel } from "#agent/models/model";
import { askModel } from "#agent/models/ask-model";
import { buildPrompt } from "#agent/prompt/system-prompt";
import { toolsOfRun, readRequestMessages } from "./turn-run.ts";
import { turnTools } from "#agent/agent-options";
import { saysNothing } from "./answer-entries.ts";
import { compactIfDue, compactNow } from "./compact-in-turn.ts";
import { countUsage, type LoopTurn, tell, write } from "./loop-turn.ts";
import { isMedia } from "#log/blob-names";
import type { ContextMessage } from "#log/projections/pairs";
import { labelOf } from "#agent/models/message-parts";

/** An answer, or why there is none and what had come of it. */
export type StepOutcome =
  | { readonly answer: ModelAnswer; readonly ending: null }
  | { readonly answer: null; readonly ending: Ending; readonly partial: readonly ContentBlock[] };

/** Asks for one answer, as often as the table of endings says: a model call does nothing in the world. */
export async function askStep(turn: LoopTurn): Promise<StepOutcome> {
  const { work, options } = turn;
  let [backoffs, recovered] = [turn.progress.unanswered, false];
  turn.progress.unanswered = 0;
  turn.progress.steps++;
  for (let isFirst = true; ; isFirst = false) {
    const outcome = await attempt(turn, isFirst);
    countUsage(turn.progress, outcome.answer === null ? outcome.usage : outcome.answer.usage);
    if (outcome.answer !== null && !isEmpty(outcome.answer)) return outcome;
    const ending: Ending = outcome.ending ?? { class: "empty", message: EMPTY, resetAtMs: null };
    const waitMs = ending.resetAtMs === null ? null : ending.resetAtMs - options.clock.nowMs();
    const limitIsShort = waitMs !== null && waitMs <= options.waitForLimitMs;
    const facts = { ...IN_LOOP, recovered, backoffs, limitIsShort };
    const other = fallbackFor(turn, outcome, ending);
    if (other !== null) {
      await write(turn, failedAttempt(turn, outcome, ending));
      tell(work, {
        type: "lost",
        class: ending.class,
        message: `${ending.message}. Switching to ${other.id}`,
      });
      turn.progress.model = other;
      backoffs = 0;
      continue;
    }
    const next = work.cancelled.aborted ? null : nextStep(ending.class, facts);
    if (next === null || next.do === "finish" || next.do === "park" || next.do === "ask_auth") {
      if (outcome.answer !== null) return outcome;
      await write(turn, failedAttempt(turn, outcome, ending));
      return { answer: null, ending, partial: outcome.partial };
    }
    await write(turn, failedAttempt(turn, outcome, ending));
    if (next.do === "back_off") {
      backoffs++;
      const delayMs = Math.max(next.delayMs, Math.min(waitMs ?? 0, options.waitForLimitMs));
      tell(work, { type: "backing_off", delayMs, message: ending.message });
      await options.clock.sleep(delayMs, work.cancelled);
    } else {
      recovered = true;
      tell(work, { type: "lost", class: ending.class, message: ending.message });
      // The same request would fail again: there is less to say, or nothing to be done.
      if (ending.class === "too_long" && !(await compactNow(turn, 0)))
        return { answer: null, ending, partial: [] };
      if (ending.class === "poisoned" && !turn.progress.showsMedia)
        return { answer: null, ending, partial: [] };
    }
  }
}

const EMPTY = "The model returned an empty answer";

function isEmpty({ content, finish }: ModelAnswer): boolean {
  return finish !== "filtered" && finish !== "length" && finish !== "paused" && saysNothing(content);
}

/** A model call starts no tool and has no session. */
const IN_LOOP = { toolStarted: false, cancelConfirmed: true, promptPoisoned: false, failedBefore: false };

const FALLBACK_CLASSES: ReadonlySet<EndingClass> = new Set(["overloaded", "limit", "credit"]);

/** Returns the next fallback model; null if there is none, or part of an answer was already streamed. */
function fallbackFor(turn: LoopTurn, outcome: ModelOutcome, ending: Ending): AgentModel | null {
  if (outcome.answer !== null || outcome.partial.length > 0 || turn.work.cancelled.aborted) return null;
  return FALLBACK_CLASSES.has(ending.class)
    ? (turn.fallbacks[turn.fallbacks.indexOf(turn.progress.model) + 1] ?? null)
    : null;
}

/** What an attempt used that left no message. */
function failedAttempt(turn: LoopTurn, outcome: ModelOutcome, ending: Ending): readonly EntryBody[] {
  const usage = outcome.answer === null ? outcome.usage : outcome.answer.usage;
  const end = { turn: turn.turn, class: ending.class, model: turn.progress.model.id };
  const bodies = attemptEnd({ ...end, upstream: null, usage });
  // The entry records that later requests omit the refused media, even without usage.
  const isRefused = ending.class === "poisoned" && turn.progress.showsMedia;
  // The log says why another model answered.
  const isReplaced = fallbackFor(turn, outcome, ending) !== null;
  return bodies.length === 0 && (isRefused || isReplaced) ? [{ type: "attempt_end", ...end }] : bodies;
}

async function attempt(turn: LoopTurn, isFirst: boolean): Promise<ModelOutcome> {
  const { work, options, turn: turnId } = turn;
  const { model } = turn.progress;
  const { conversation, owner, cancelled, warm } = work;
  // Right after the turn's own batch the cache is current. After a wait, another process may have written.
  const context = isFirst ? await warm.context.owned() : (await warm.context.now()).context;
  let sent = await readRequestMessages(conversation, turn.run, { context });
  turn.progress.state ??= context.state;
  turn.progress.skills ??= context.skills;
  if (options.servers !== null)
    turn.tools = toolsOfRun(
      await turnTools(options, { cwd: turn.cwd, conversation: conversation.id, memory: turn.memory }),
      turn.run,
    );
  const prompt = await buildPrompt(turn, { ...sent, skills: context.skills });
  if (await compactIfDue(turn, sent.messages, prompt.tokens))
    sent = await readRequestMessages(conversation, turn.run, await warm.context.now());
  const recorder = new Recorder(owner, turnId, options.clock);
  // A model call does nothing in the world: it is made while its record is written, which is as durable as what comes of it.
  recorder.begin({
    type: "attempt",
    turn: turnId,
    model: model.id,
    promptDigest: prompt.promptDigest,
    toolsDigest: prompt.toolsDigest,
  });
  turn.progress.attempts++;
  tell(work, { type: "step", step: turn.progress.steps, model: model.id });
  const onEvent = (event: ModelEvent): void => {
    if (event.type === "call") return;
    tell(work, { type: "update", event });
    recorder.add(event);
    recorder.check();
  };
  const visible = await visibleMessages(conversation, sent.messages, model.id);
  turn.progress.showsMedia = visible.hasMedia;
  const request = {
    system: prompt.system,
    tools: prompt.tools,
    messages: visible.messages,
    reminder: prompt.reminder,
    cacheKey: await warm.root(owner.acquiredHead),
  };
  const { silenceMs, clock } = options;
  const outcome = await askModel(model, request, { signal: cancelled, onEvent, silenceMs, clock });
  await (outcome.answer === null ? recorder.settled() : recorder.superseded());
  return withoutBytes(conversation, outcome);
}

/** Files that a model has made are kept as blobs, as those of people are. */
async function withoutBytes(conversation: Conversation, outcome: ModelOutcome): Promise<ModelOutcome> {
  const { answer } = outcome;
  if (answer === null) return { ...outcome, partial: await keepImages(conversation, outcome.partial) };
  return { ...outcome, answer: { ...answer, content: await keepImages(conversation, answer.content) } };
}

const ENDS_LOOKED_AT = 256;
const MESSAGES_MAX = 100_000;

/** What a model is shown, and whether files are among it. */
interface VisibleMessages {
  readonly messages: readonly ContextMessage[];
  readonly hasMedia: boolean;
}

/**
 * The messages with the bytes of their files in them. What was there when this model's service refused a request for what it was shown
 * is named in words from then on: one broken image must not fail every request to come.
 */
async function visibleMessages(
  conversation: Conversation,
  messages: readonly ContextMessage[],
  model: string,
): Promise<VisibleMessages> {
  if (!messages.some(({ content }) => content.some(isMedia))) return { messages, hasMedia: false };
  const isOmitted = await refusedMessages(conversation, model);
  const visible: ContextMessage[] = [];
  let hasMedia = false;
  for (const message of messages) {
    if (!message.content.some(isMedia)) visible.push(message);
    else if (isOmitted(message)) visible.push({ ...message, content: message.content.map(labelBlock) });
    else {
      hasMedia = true;
      const content = await withImages(conversation, message.content);
      visible.push({ ...message, content });
    }
  }
  return { messages: visible, hasMedia };
}

function labelBlock(block: ContentBlock): ContentBlock {
  if (!isMedia(block)) return block;
  return {
    type: "text",
    text: `[${labelOf(block)}: omitted, because the provider rejected a request that contained it]`,
  };
}

/** Which messages were there when a request was refused; none where that never happened. */
async function refusedMessages(
  conversation: Conversation,
  model: string,
): Promise<(message: ContextMessage) => boolean> {
  const types = ["attempt_end"] as const;
  const ends = await conversation.read({ types, newestFirst: true, limit: ENDS_LOOKED_AT });
  const refused = ends.find((end) => end.class === "poisoned" && end.model === model);
  if (refused === undefined) return () => false;
  const after = refused.seq;
  const later = await conversation.entries({ after, limit: MESSAGES_MAX, types: ["message"] });
  const newer = new Set<string>(later.map(({ id }) => id));
  return ({ entryId }) => entryId === null || !newer.has(entryId);
}
