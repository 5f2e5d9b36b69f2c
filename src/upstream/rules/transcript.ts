import type { EntryId } from "#log/ids";
import { hasPreamble } from "./preamble.ts";
import type { Message, ContentBlock } from "#log/message";

export interface MessageText {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** The texts it was put together from, where there are several: an agent keeps them in its own order and wrapping. */
  readonly parts?: readonly string[];
}

/** Neighbours of one role. */
export interface Stretch {
  readonly role: "user" | "assistant";
  /** Newest first. */
  readonly messages: readonly MessageText[];
  /** The oldest one: the texts that are known may begin in the middle of it. */
  readonly oldest: boolean;
}

/** One turn of a branch, as it can be looked for in the record of a session that carried it or holds it. */
export interface SessionTurn {
  readonly prompt: EntryId;
  /** The last node of the turn. */
  readonly node: EntryId;
  readonly request: MessageText;
  /** All that was answered; null when it did not end well, or in a tool: then what the agent kept of it is its own affair. */
  readonly answered: string | null;
  /** The last of its nodes that the session was taken to hold by itself, where it did not end well; null when none was. */
  readonly knownUpTo: EntryId | null;
  /** What came before was told with it, so that it has to be there too. */
  readonly hasContext: boolean;
  /** How many messages it was told word for word; null when that is not known. */
  readonly quoted: number | null;
  /** A later turn was told it again, so that it need not be there itself. */
  readonly retold: boolean;
  /** It was not sent to the session, which was made with it: by a fork, or of the history. */
  readonly inherited: boolean;
  /** Nothing is known any more of what the session holds since. */
  readonly forgot: boolean;
}

/** What a session shows of itself, compared with what we know it carried. */
export interface Comparison {
  /** Everything it answered is there. */
  readonly whole: boolean;
  /** The last node up to which it holds everything; null when nothing could be compared. */
  readonly knownUpTo: EntryId | null;
}

const LOST: Comparison = { whole: false, knownUpTo: null };

/**
 * Compares what an upstream shows of itself with the turns it carried, newest first. Resumes succeed on histories that
 * were cut or emptied, so a success alone proves nothing: every turn that it answered has to be there, in order. What is
 * there besides says nothing against it: prompts that failed, preambles, an agent's own commands, the remains of a turn
 * that broke off. Only behind the last turn nobody else may have answered.
 *
 * It holds them only if what they rest on is there as well: what the session was made with, what it was told in front of
 * a prompt, and each turn that broke off and was not told again. Else all of it is told once more.
 */
export function compareTurns(
  transcript: readonly MessageText[],
  newestFirst: readonly SessionTurn[],
): Comparison {
  const theirs = stretches(transcript.toReversed());
  const last = newestFirst.findIndex((turn) => turn.inherited || isCompared(turn));
  const open = last === -1 ? newestFirst : newestFirst.slice(0, last);
  let proven = !newestFirst.some((turn) => turn.answered === null && isMistakable(turn, newestFirst));
  let from = 0;
  let newest = theirs.length;
  for (const turn of newestFirst.slice(open.length)) {
    const required = !turn.inherited && (isCompared(turn) || turn.knownUpTo !== null);
    if (isCommand(turn) || (!required && turn.retold)) continue;
    const at = theirs.findIndex((_, index) => index >= from && isTurnAt(theirs, index, turn));
    if (at === -1 && required) return LOST;
    const contextAt = at !== -1 && turn.hasContext && !turn.retold ? contextStretch(theirs, at, turn) : at;
    proven &&= contextAt !== -1;
    if (at === -1) continue;
    newest = Math.min(newest, at);
    from = Math.max(contextAt, endsAt(turn) ? at + 1 : at);
  }
  const behind = theirs.slice(0, newest);
  if (open.length === 0 && behind.some(({ role }) => role === "assistant")) return LOST;
  return {
    whole: true,
    knownUpTo: proven ? reachedNode(newestFirst[last]?.node ?? null, open, behind) : null,
  };
}

/** Whether no other turn is to be looked for where this one was found: prompts without a reply stand side by side. */
function endsAt(turn: SessionTurn): boolean {
  return turn.inherited ? turn.answered !== null && turn.answered !== "" : isCompared(turn);
}

/** Where what was told with a turn stands: in its prompt, or in one of the same words that was sent before. */
function contextStretch(theirs: readonly Stretch[], at: number, turn: SessionTurn): number {
  return theirs.findIndex(
    ({ role, messages }, index) =>
      index >= at &&
      role === "user" &&
      messages.some((one) => isSamePrompt(one, turn.request) && hasPreamble(one.text, turn.quoted)),
  );
}

/** Whether the remains of a turn that broke off can pass for one that was answered, with what that was told. */
function isMistakable(turn: SessionTurn, all: readonly SessionTurn[]): boolean {
  if (!turn.hasContext || turn.retold) return false;
  const isAlike = ({ quoted }: SessionTurn): boolean =>
    quoted === null || turn.quoted === null || quoted === turn.quoted;
  return all.some(
    (other) =>
      other.hasContext &&
      !other.retold &&
      isCompared(other) &&
      isAlike(other) &&
      isSamePrompt(turn.request, other.request),
  );
}

/** How far the session came in the turns that did not end well: up to the first of them that is not there. */
function reachedNode(
  knownUpTo: EntryId | null,
  openNewestFirst: readonly SessionTurn[],
  behind: readonly Stretch[],
): EntryId | null {
  if (openNewestFirst.some((turn) => turn.forgot)) return null;
  let remaining = behind.filter(({ role }) => role === "user").flatMap(({ messages }) => messages);
  // A command that was not sent to the end, or to a session that lacked something, has told it nothing.
  const turns = openNewestFirst.filter((turn) => !isCommand(turn) || turn.answered !== null);
  const reached = turns.map((turn) => {
    if (isCommand(turn)) return turn.node;
    const at = remaining.findIndex(
      (message) =>
        isSamePrompt(message, turn.request) && (!turn.hasContext || hasPreamble(message.text, turn.quoted)),
    );
    if (at === -1) return null;
    remaining = remaining.slice(at + 1);
    return turn.knownUpTo ?? turn.prompt;
  });
  const missing = reached.findLastIndex((node) => node === null);
  return reached[missing + 1] ?? knownUpTo;
}

/** Agents keep their own commands in ways of their own, or not at all. */
function isCompared(turn: SessionTurn): boolean {
  return turn.answered !== null && !isCommand(turn);
}

function isCommand({ request }: SessionTurn): boolean {
  return commandName(request.text) !== null;
}

function isTurnAt(theirs: readonly Stretch[], at: number, turn: SessionTurn): boolean {
  const answered = bare(turn.answered ?? "");
  const [reply, prompt] = answered === "" ? [null, theirs[at]] : [theirs[at], theirs[at + 1]];
  if (reply === undefined || prompt?.role !== "user") return false;
  if (reply !== null && (reply.role !== "assistant" || whole(reply) !== answered)) return false;
  return prompt.messages.some(
    (message) =>
      isSamePrompt(message, turn.request) || (turn.inherited && hasLines(message.text, turn.request.text)),
  );
}

/** What was steered before a prompt is one message with it. */
function hasLines(text: string, lines: string): boolean {
  return `\n${text}\n`.includes(`\n${lines}\n`);
}

/**
 * Whether what an upstream shows of itself ends with these texts. Agents split and merge messages as they like: a reply
 * with tools may be one text or several, a prompt may stand behind a preamble or behind one that failed, so neighbours
 * of one role are compared as a whole, and of what the user said only the last words.
 */
export function transcriptMatches(
  transcript: readonly MessageText[],
  oursNewestFirst: readonly MessageText[],
): boolean {
  const theirs = stretches(transcript.toReversed());
  return stretches(oursNewestFirst).every((ours, back) => isSameStretch(theirs[back], ours));
}

export function isSameStretch(there: Stretch | undefined, ours: Stretch): boolean {
  if (there === undefined || there.role !== ours.role) return false;
  if (ours.role === "assistant")
    return ours.oldest ? whole(there).endsWith(whole(ours)) : whole(there) === whole(ours);
  const [last] = there.messages;
  const [expected] = ours.messages;
  return last === undefined || expected === undefined || isSamePrompt(last, expected);
}

/**
 * Whether a message of the user's in an agent's record is this one of ours. Ours stands last in it, behind whatever was
 * put in front. One that had a file or a link in it is another text there: the words around them are in it all the same,
 * and so is what a file held, without the line that names it.
 */
function isSamePrompt(there: MessageText, ours: MessageText): boolean {
  if (there.text.trim().endsWith(ours.text.trim())) return true;
  const text = bare(there.text);
  const parts = ours.parts ?? [];
  return parts.some((part) => {
    const [name = "", ...lines] = part.split("\n");
    return [part, lines.join("\n"), lines.length === 0 ? "" : name].some((piece) => {
      const expected = bare(piece);
      return expected !== "" && text.includes(expected);
    });
  });
}

export function stretches(newestFirst: readonly MessageText[]): readonly Stretch[] {
  const runs: { readonly role: MessageText["role"]; readonly messages: MessageText[] }[] = [];
  for (const one of newestFirst) {
    if (one.text.trim() === "") continue;
    const last = runs.at(-1);
    if (last?.role === one.role) last.messages.push(one);
    else runs.push({ role: one.role, messages: [one] });
  }
  return runs.map(({ role, messages }, at) => ({ role, messages, oldest: at === runs.length - 1 }));
}

function whole(stretch: Stretch): string {
  return bare(
    stretch.messages
      .map(({ text }) => text)
      .toReversed()
      .join(""),
  );
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

export function textsOf({ content }: Message): readonly string[] {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

/** The words of a message, and the texts it is made of where they are several. */
export function messageText(role: MessageText["role"], message: Message): MessageText {
  const parts = textsOf(message);
  return { role, text: parts.join(""), ...(parts.length > 1 ? { parts } : {}) };
}

/** What a prompt is to an agent's own program: something it does itself, or one of those that also forgets everything. */
export type CommandKind = "command" | "reset";

const COMMAND = /^\s*\/([^\s/]+)(?:\s|$)/;

/** The name of the command that a prompt looks like; null when it does not. A path is none. */
function commandName(text: string): string | null {
  return COMMAND.exec(text)?.[1] ?? null;
}

/** The same of a prompt's content: agents look at its first words. */
export function commandIn(content: readonly ContentBlock[]): string | null {
  const [first] = content;
  return first?.type === "text" ? commandName(first.text) : null;
}
