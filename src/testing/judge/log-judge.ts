import type { Entry } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { type ToolCall, type ToolResultMessage, textOfBlocks } from "#log/message";
import { SummaryCounter } from "#log/projections/summary-of";
import type { Summary } from "#log/summary";
import { hasPreamble } from "#upstream/rules/preamble";
import { isDeepStrictEqual } from "node:util";
import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import { ASSISTANT_FIRST, openedByUser } from "#log/projections/pairs";
import { judgeContext } from "./context-judge.ts";

const ATTEMPTS_MAX = 9; // overloads, a login, a recovery and the switches between agents, all in one turn
const FAILURES_MAX = 3; // of one session with unknown errors: two, and that of the turn it was opened in
const PASSING: ReadonlySet<string> = new Set(["limit", "credit", "overloaded", "auth"]);

/** What is known beside the log. A rule that rests on what is left out is not judged. */
export interface Witness {
  /** How often an agent was asked for this session by now. */
  touches?(session: string): number;
  /** Whether this agent, named as `agent/account`, can take up a session again at all. */
  resumes?(agent: string): boolean;
  /** Whether this call has ever run. */
  ran?(name: string, input: Json): boolean;
  /** Says whose session this is; false when it is another conversation's. */
  claim?(session: string): boolean;
}

interface OpenTurn {
  readonly id: string;
  tool: boolean;
  attempts: number;
  /** The last attempt was of a loop of one's own. */
  byLoop: boolean;
  reply: string;
  /** The calls of its last answer that have no result and were not begun. */
  readonly calls: Map<string, string>;
}

/** Judges a log by what must hold of it whatever happened. It is given every entry once, in order. */
export class LogJudge {
  readonly #witness: Witness;
  readonly #violations: string[] = [];
  readonly #ids = new Set<string>();
  /** By upstream id: the agent and account it was linked for. */
  readonly #agents = new Map<string, string>();
  readonly #steers = new Set<string>();
  /** Effects that were begun and must not be again. */
  readonly #intents = new Set<string>();
  /** By agent: the session that was limited, and how often it had been asked for by then. */
  readonly #limited = new Map<string, { readonly session: string; readonly touches: number }>();
  /** By session: the turns it failed with an unknown error since its last answer. */
  readonly #failures = new Map<string, number>();
  /** Sessions that were ended by a sign-out. */
  readonly #signedOut = new Set<string>();
  /** By call: what it was, where somebody knows what ran. */
  readonly #calls = new Map<string, ToolCall>();
  readonly #counter = new SummaryCounter();
  #seq: number = 0;
  #open: OpenTurn | null = null;
  /** The prompts of all turns, in order. */
  readonly prompts: string[] = [];
  /** By the id of a user's message: its text. */
  readonly texts: Map<string, string> = new Map();
  /** By turn: the text of its answer. */
  readonly replies: Map<string, string> = new Map();

  constructor(witness: Witness = {}) {
    this.#witness = witness;
  }

  /** The last entry it was given. */
  get seq(): number {
    return this.#seq;
  }

  get openTurn(): string | null {
    return this.#open?.id ?? null;
  }

  /** What appends must have kept of the entries it was given. */
  summary(branches: number): Summary {
    return this.#counter.result(branches);
  }

  /** Every upstream id that was linked. */
  get sessions(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** What was found since the last look. */
  violations(): readonly string[] {
    if (this.#open?.byLoop === true) this.#checkAttempts(this.#open);
    return this.#violations.splice(0);
  }

  /** Notes a violation; for judges with more rules. */
  blame(problem: string): void {
    this.#violations.push(problem);
  }

  add(entry: Entry): void {
    if (entry.seq !== this.#seq + 1) this.blame(`seq ${entry.seq} follows ${this.#seq}`);
    this.#seq = entry.seq;
    this.#counter.add(entry);
    if (this.#ids.has(entry.id)) this.blame(`${entry.id} is there twice`);
    this.#ids.add(entry.id);
    if (hasPreamble(entry.payload)) this.blame("a preamble is in the log");
    switch (entry.type) {
      case "message":
        this.#addMessage(entry);
        break;
      case "turn_start":
        if (this.#open !== null) this.blame(`${entry.turn} began while ${this.#open.id} was open`);
        this.#open = {
          id: entry.turn,
          tool: false,
          attempts: 0,
          byLoop: false,
          reply: "",
          calls: new Map(),
        };
        this.prompts.push(entry.prompt ?? "");
        break;
      case "turn_end":
        this.#endTurn(entry);
        break;
      case "attempt":
        this.#addAttempt(entry);
        break;
      case "tool_intent":
        if (this.#open !== null) this.#open.tool = true;
        this.#open?.calls.delete(entry.call);
        this.#addIntent(entry);
        break;
      case "upstream_link":
        this.#addLink(entry);
        break;
      case "upstream_end":
        if (entry.reason === "sign_out") this.#signOut(entry.upstream);
        if (PASSING.has(entry.reason))
          this.blame(`${entry.upstream} was given up for a mere ${entry.reason}`);
        break;
      case "reset":
      case "leaf":
      case "hide":
        this.#limited.clear();
        break;
      case "steer":
        if (entry.state === "delivered" && this.#steers.has(entry.steer))
          this.blame(`steer ${entry.steer} was delivered twice`);
        if (entry.state === "delivered") this.#steers.add(entry.steer);
        break;
      default:
        break;
    }
  }

  #addMessage({ id, message }: Extract<Entry, { type: "message" }>): void {
    const text = textOfBlocks(message.content);
    const turn = this.#open;
    if (message.role === "assistant" && turn !== null) {
      turn.reply += text;
      // In a loop every answer is asked for by itself; an agent answers once it has ended.
      if (turn.byLoop) turn.attempts = 0;
      turn.calls.clear();
      for (const block of message.content)
        if (block.type === "toolCall") turn.calls.set(block.id, block.name);
    }
    if (this.#witness.ran !== undefined)
      for (const block of message.content) if (block.type === "toolCall") this.#calls.set(block.id, block);
    if (message.role === "toolResult") {
      turn?.calls.delete(message.toolCallId);
      this.#checkRan(message);
    }
    if (message.role === "user") this.texts.set(id, text);
  }

  /** What is recorded as done was done. */
  #checkRan({ toolCallId, isError }: ToolResultMessage): void {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || isError === true) return;
    if (this.#witness.ran?.(call.name, call.input) === false)
      this.blame(`${call.name} ${JSON.stringify(call.input)} is recorded as done and never ran`);
  }

  #addAttempt(entry: Extract<Entry, { type: "attempt" }>): void {
    // An attempt of a loop of one's own has no upstream.
    if (entry.upstream !== undefined && !this.#agents.has(entry.upstream))
      this.blame(`${entry.upstream} was used before it was linked`);
    if (this.#signedOut.has(entry.upstream ?? "")) this.blame(`${entry.upstream} was used after a sign-out`);
    const turn = this.#open;
    if (turn?.id !== entry.turn) return this.blame(`an attempt of ${entry.turn}, which is not open`);
    turn.byLoop = entry.upstream === undefined;
    // A loop asks on with what its tools gave; to an agent the prompt would go out again.
    if (turn.tool && !turn.byLoop) this.blame(`${entry.turn} was sent again after a tool ran`);
    if (turn.byLoop)
      for (const name of turn.calls.values())
        this.blame(`a model got another request although its call of ${name} was not started or answered`);
    turn.attempts++;
    if (!turn.byLoop) this.#checkAttempts(turn);
  }

  /** Attempts of a loop are checked once its turn or the log ends: a process may have been killed at each, and the next one been answered. */
  #checkAttempts(turn: OpenTurn): void {
    if (turn.attempts > ATTEMPTS_MAX) this.blame(`${turn.id} was sent ${turn.attempts} times`);
  }

  #addIntent({ name, replay, idempotencyKey }: Extract<Entry, { type: "tool_intent" }>): void {
    if (idempotencyKey === undefined || replay === "safe") return;
    if (this.#intents.has(idempotencyKey)) this.blame(`${name} started twice under ${idempotencyKey}`);
    this.#intents.add(idempotencyKey);
  }

  #addLink({ upstream, agent, account = "", reason }: Extract<Entry, { type: "upstream_link" }>): void {
    const place = `${agent}/${account}`;
    if (this.#witness.claim?.(upstream) === false)
      this.blame(`${upstream} belongs to another conversation as well`);
    if (PASSING.has(reason)) this.blame(`a new chain after a mere ${reason}`);
    const limited = this.#limited.get(place);
    // Whoever goes on in a fork leaves the other session as it is, to be come back to.
    const isAttempted =
      limited === undefined || reason === "forked" || this.#touches(limited.session) > limited.touches;
    if (limited !== undefined && upstream !== limited.session && !isAttempted)
      this.blame(`${limited.session} was limited and then left without being asked again`);
    this.#limited.delete(place);
    this.#agents.set(upstream, place);
  }

  /** It is not asked again, also where it was only limited. */
  #signOut(session: string): void {
    this.#signedOut.add(session);
    for (const [place, limited] of this.#limited)
      if (limited.session === session) this.#limited.delete(place);
  }

  #endTurn(entry: Extract<Entry, { type: "turn_end" }>): void {
    if (this.#open?.id !== entry.turn) this.blame(`${entry.turn} ended, but was not open`);
    this.replies.set(entry.turn, this.#open?.reply ?? "");
    if (this.#open?.byLoop === true) this.#checkAttempts(this.#open);
    this.#open = null;
    const place = this.#agents.get(entry.upstream ?? "");
    if (place === undefined || entry.upstream === undefined) return;
    this.#countFailure(entry.upstream, entry);
    this.#limited.delete(place);
    const parked = entry.class === "limit" || entry.class === "credit";
    if (parked && this.#witness.touches !== undefined && this.#witness.resumes?.(place) !== false)
      this.#limited.set(place, { session: entry.upstream, touches: this.#touches(entry.upstream) });
  }

  #countFailure(session: string, { outcome, class: ending }: Extract<Entry, { type: "turn_end" }>): void {
    if (outcome === "completed") this.#failures.delete(session);
    if (ending !== "failed") return;
    const failures = (this.#failures.get(session) ?? 0) + 1;
    this.#failures.set(session, failures);
    if (failures > FAILURES_MAX)
      this.blame(`${session} failed ${failures} prompts in a row and was used again`);
  }

  #touches(session: string): number {
    return this.#witness.touches?.(session) ?? 0;
  }
}

/** What a whole log breaks of the rules, in words; empty when it breaks none. */
export function judgeLog(entries: Iterable<Entry>, witness: Witness = {}): readonly string[] {
  const judge = new LogJudge(witness);
  for (const entry of entries) judge.add(entry);
  return judge.violations();
}

/**
 * The same for a conversation as it is now: its log, its chain and what its model would be sent. A judge that is kept
 * is given only what is new, so a host can be judged after every step.
 */
export async function judgeConversation(
  conversation: Conversation,
  judge: LogJudge = new LogJudge(),
): Promise<readonly string[]> {
  for await (const stored of conversation.log({ after: judge.seq })) judge.add(decodeEntry(stored));
  const chain = new Set((await conversation.chain()).map(({ id }) => id));
  const lost = judge.sessions.filter((session) => !chain.has(session));
  const { messages } = await conversation.context();
  const { headSeq, segments, summary } = await conversation.head();
  // What was written since was not judged; a log that was never counted has nothing to be compared.
  const comparable = headSeq === judge.seq && summary !== null;
  const miscounted = comparable && !isDeepStrictEqual(summary, judge.summary(segments));
  return [
    ...judge.violations(),
    ...lost.map((session) => `${session} is not in the chain any more`),
    ...(miscounted ? ["what the list shows is not what the log says"] : []),
    ...judgeContext(openedByUser(messages, { ...ASSISTANT_FIRST, entryId: null })),
  ];
}

type Node = Entry & { readonly hidden: boolean };

/**
 * Whether an agent must remember a text when a prompt is sent, told from the branch up to that prompt alone: `known`, it
 * is within the messages that every agent is told (`window` of them); `gone`, no agent may know it; `old`, one may or may not.
 */
export function recallOf(
  branch: readonly Node[],
  question: { readonly fact: string; readonly window: number },
): "known" | "gone" | "old" {
  const reset = branch.findLastIndex((node) => node.type === "reset");
  const visible = branch.slice(reset + 1).filter((node) => !node.hidden && node.type === "message");
  const holds = (node: Node): boolean => node.payload.includes(question.fact);
  if (visible.slice(0, -1).filter(isText).slice(-question.window).some(holds)) return "known";
  return visible.some(holds) ? "old" : "gone";
}

function isText(node: Node): boolean {
  if (node.type !== "message" || node.message.role === "toolResult") return false;
  const { message } = node;
  const cutOff = message.role === "assistant" && ["interrupted", "failed"].includes(message.stopReason ?? "");
  return !cutOff && message.content.some((block) => block.type === "text" && block.text.trim() !== "");
}
