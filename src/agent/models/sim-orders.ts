import { SUMMARY_HEADINGS } from "#agent/compaction/summary-request";
import { readJson } from "#log/json/read-json";

/** What the simulated model does about one order. */
export type SimAct =
  | { readonly do: "say" | "think"; readonly text: string }
  /** The input as it was written, JSON or not. */
  | { readonly do: "call"; readonly name: string; readonly input: string };

/** What the simulated model was sent, as far as it minds it. */
export interface SimInput {
  /** The newest message of a person. */
  readonly prompt: string;
  /** How often it was answered since. */
  readonly answers: number;
  /** What the tools of the last answer gave. */
  readonly results: readonly string[];
  /** Everything it was told and has said, oldest first. */
  readonly texts: readonly string[];
  /** It is asked to summarise what it is told. */
  readonly isSummary: boolean;
  /** The names of the tools that it is offered. */
  readonly tools?: readonly string[];
  /** It says what it would call, and calls nothing. */
  readonly isCautious?: boolean;
}

/**
 * What is done about a prompt. Orders stand on lines of their own or between semicolons: `remember a=1`, `recall a`,
 * `work 3`, `think about it`, `tool NAME {json}`, and `email WHOM about WHAT` where it has the tool for it; anything else is echoed. What stands behind a line `then` is done in
 * the answer after the tools have run.
 */
export function simActs(input: SimInput): readonly SimAct[] {
  if (input.isSummary) return [{ do: "say", text: summaryOf(input.texts) }];
  const stages = stagesOf(input.prompt);
  const stage = stages[input.answers];
  if (stage === undefined || stage.length === 0) return [{ do: "say", text: doneText(input.results) }];
  return onLines(stage.map((order) => asCalled(actOf(order, input), input)));
}

/** A cautious one does otherwise than others, so that there is something to see when it is asked in their place. */
function asCalled(act: SimAct, { isCautious = false }: SimInput): SimAct {
  if (!isCautious || act.do !== "call") return act;
  return { do: "say", text: `I would call ${act.name} ${act.input}, and leave it to you` };
}

/** Puts the answer to each command on a line of its own. */
function onLines(acts: readonly SimAct[]): readonly SimAct[] {
  return acts.map((act, index) =>
    act.do === "say" && acts[index - 1]?.do === "say" ? { ...act, text: `\n${act.text}` } : act,
  );
}

/** Returns a summary in the requested shape that keeps the facts the model was asked to remember. */
function summaryOf(texts: readonly string[]): string {
  const facts = new Map<string, string>();
  for (const text of texts)
    for (const [, key = "", value = ""] of text.matchAll(/\b(?:remember|Noted) (\S+?)=([^\s";)<]+)/gi))
      facts.set(key, value);
  for (const text of texts)
    for (const [, key = "", value = ""] of text.matchAll(/\bNoted: your ([\w ]+?) is (.+)$/gm))
      facts.set(key.replaceAll(" ", "_"), value.replaceAll(" ", "_"));
  for (const text of texts)
    for (const [, key = "", value = ""] of text.matchAll(/^- ([^\s=]+)=(\S+)$/gm)) facts.set(key, value);
  const lines = [...facts].map(([key, value]) => `- ${key}=${value}`);
  return SUMMARY_HEADINGS.map((heading) =>
    heading === SUMMARY_HEADINGS.at(-1) && lines.length > 0
      ? [heading, ...lines].join("\n")
      : `${heading}\nnone`,
  ).join("\n");
}

type Order = { readonly tool: string; readonly input: string } | string;

/** The tool that the simulated agent sends emails by. */
export const EMAIL_TOOL = "send_email";

function actOf(command: Order, { texts, tools = [] }: SimInput): SimAct {
  if (typeof command !== "string") return { do: "call", name: command.tool, input: command.input };
  const order = orderOf(command);
  const remember = /^remember ([^\s=]+)=(.+)$/i.exec(order);
  if (remember !== null)
    return { do: "say", text: notedText(remember[1] ?? "", remember[2] ?? "", order !== command) };
  const key = /^recall (\S+)$/i.exec(order)?.[1];
  if (key !== undefined) return { do: "say", text: recallFact(key, texts) ?? `I do not know ${key}` };
  const work = /^work (\d{1,4})$/i.exec(order)?.[1];
  if (work !== undefined) return { do: "say", text: workSteps(Number(work)).join("") };
  const think = /^think (.+)$/i.exec(order)?.[1];
  if (think !== undefined) return { do: "think", text: think };
  const [, to, about] = /^email (\S+) about (.+)$/i.exec(order) ?? [];
  if (to !== undefined && tools.includes(EMAIL_TOOL))
    return { do: "call", name: EMAIL_TOOL, input: JSON.stringify({ to, about }) };
  return { do: "say", text: echo(order) };
}

const RESULT_CHARS = 400; // an answer that tells what tools gave, not a copy of it

function doneText(results: readonly string[]): string {
  if (results.length === 0) return "Done.";
  return results.map((text) => `Done: ${text.slice(0, RESULT_CHARS)}`).join("\n");
}

const TOOL = /^tool ([^\s{]+)[ \t]*/i;

/** The orders of a prompt by the answers they are for. An input may hold any of the signs that separate orders. */
function stagesOf(prompt: string): readonly (readonly Order[])[] {
  const stages: Order[][] = [[]];
  let rest = prompt;
  while (rest !== "") {
    rest = rest.replace(/^[\s;]+/, "");
    const tool = TOOL.exec(rest);
    const input = tool === null ? null : jsonAtStart(rest.slice(tool[0].length));
    const end = rest.search(/[\n;]/);
    const order = rest.slice(0, end === -1 ? rest.length : end).trim();
    if (tool !== null) {
      stages.at(-1)?.push({ tool: tool[1] ?? "", input: input ?? order.slice(tool[0].length) });
      rest = rest.slice(input === null ? order.length : tool[0].length + input.length);
      continue;
    }
    if (order.toLowerCase() === "then") stages.push([]);
    else if (order !== "") stages.at(-1)?.push(order);
    rest = end === -1 ? "" : rest.slice(end + 1);
  }
  return stages;
}

const BRACES_MAX = 1_000; // each is a place where the input might end

/** The JSON object that a text begins with, as it is written; null when it begins with none. */
function jsonAtStart(text: string): string | null {
  if (!text.startsWith("{")) return null;
  let end = text.indexOf("}");
  for (let tried = 0; end !== -1 && tried < BRACES_MAX; tried++) {
    const candidate = text.slice(0, end + 1);
    try {
      readJson(candidate);
      return candidate;
    } catch {
      end = text.indexOf("}", end + 1);
    }
  }
  return null;
}
// What everything simulated answers, whether an agent or a model.

/** An order in a person's own words, which are what is typed first: "My name is Ada", "What is my name?". */
export function orderOf(text: string): string {
  const fact = /^(?:please )?(?:remember (?:that )?)?my ([\w ]{1,60}?) is ([^?]*[^?.!])[.!]*$/i.exec(text);
  if (fact !== null) return `remember ${keyOf(fact[1])}=${fact[2]}`;
  const question =
    /^(?:and |so )?(?:tell me )?what(?:'s|’s| is| was) my ([\w ]{1,60}?)(?: again)?\s*[?.!]*$/i.exec(text);
  return question === null ? text : `recall ${keyOf(question[1])}`;
}

function keyOf(text: string = ""): string {
  return text.trim().replaceAll(/\s+/g, "_");
}

/** The answer to a fact, in the same form as the fact. */
export function notedText(key: string, value: string, isSpoken: boolean): string {
  return isSpoken ? `Noted: your ${key.replaceAll("_", " ")} is ${value}` : `Noted ${key}=${value}`;
}

/** Finds the last value of a key in texts (oldest first); null if there is none. */
export function recallFact(key: string, texts: readonly string[]): string | null {
  const [written, spoken] = [escapeForRegExp(key), escapeForRegExp(key.replaceAll("_", " "))];
  const pattern = new RegExp(
    String.raw`(?:^|[\s"'(>])${written}=([^\s";)]+)|\b(?:[Mm]y|your) ${spoken} is ([^\n?";)]*[^\s.!?";)])`,
    "g",
  );
  for (const text of texts.toReversed()) {
    const match = [...text.matchAll(pattern)].at(-1);
    if (match !== undefined) return match[1] ?? match[2] ?? null;
  }
  return null;
}

export function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Answers an unknown command with a fingerprint that proves which text arrived. */
export function echo(command: string): string {
  return `You said "${command}" (${fingerprint(command)})`;
}

function fingerprint(text: string): string {
  let hash = 7;
  for (let index = 0; index < text.length; index++)
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) >>> 0;
  return hash.toString(36);
}

export function workSteps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `Step ${index + 1} of ${count} done. `);
}

const PIECE_CHARS = 12;

/** Answers come in pieces, so that there is a middle to break in. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  const points = Array.from(text);
  for (let index = 0; index < points.length; index += PIECE_CHARS)
    pieces.push(points.slice(index, index + PIECE_CHARS).join(""));
  return pieces;
}
