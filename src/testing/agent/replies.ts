import { CUT_OFF_LABEL } from "#sending/rules/preamble";

/** One line of a session, as the agent remembers it and as its transcript keeps it. */
export interface Line {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

export type Act =
  | { readonly do: "say"; readonly pieces: readonly string[] }
  | {
      readonly do: "email";
      readonly to: string;
      readonly about: string;
      readonly identity: string;
      readonly input: { readonly to: string; readonly about: string };
    };

/**
 * What the agent does about a prompt, command by command. It knows what its own session holds and nothing else: facts
 * told elsewhere are not known, and an action counts as done only if the session says so.
 */
export function actsFor(command: string, memory: readonly Line[]): Act {
  const remember = /^remember (\S+?)=(.+)$/i.exec(command);
  if (remember !== null) return say(`Noted ${remember[1]}=${remember[2]}`);
  const recall = /^recall (\S+)$/i.exec(command);
  if (recall !== null) return say(recalled(recall[1] ?? "", memory));
  const work = /^work (\d+)$/i.exec(command);
  if (work !== null) return { do: "say", pieces: steps(Number(work[1])) };
  const email = /^email (\S+) about (.+)$/i.exec(command);
  if (email !== null) return emailOrRefusal(email[1] ?? "", email[2] ?? "", memory);
  return say(`You said "${command}" (${fingerprint(command)})`);
}

/** The commands of a prompt: one to a line, or separated by semicolons. */
export function commandsOf(prompt: string): readonly string[] {
  return prompt
    .split(/[\n;]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function emailIdentity(to: string, about: string): string {
  return `email ${to} about ${about}`;
}

function emailOrRefusal(to: string, about: string, memory: readonly Line[]): Act {
  const input = { to, about };
  const mark = `send_email ${JSON.stringify(input)}: `;
  for (const { text } of memory.toReversed()) {
    const at = text.lastIndexOf(mark);
    if (at === -1) continue;
    const state = text.slice(at + mark.length);
    if (state.startsWith("done")) return say(`Already sent: ${emailIdentity(to, about)}`);
    if (state.startsWith("outcome unknown"))
      return say(
        `I cannot tell whether this went out, so I did not send it again: ${emailIdentity(to, about)}`,
      );
    break; // it failed: it may be tried again
  }
  return { do: "email", to, about, identity: emailIdentity(to, about), input };
}

/** A reply in a preamble that was cut off: its label and the quoted lines below it. */
const CUT_OFF = new RegExp(String.raw`${escapeForRegExp(CUT_OFF_LABEL)}(?:\n>.*)*`, "g");

function recalled(key: string, memory: readonly Line[]): string {
  const wanted = new RegExp(String.raw`(?:^|[\s"'(>])${escapeForRegExp(key)}=([^\s";)]+)`, "g");
  // An answer that was cut off has half a value in it: what was told counts before what was answered.
  const told = memory.filter(({ role }) => role === "user");
  const heard = told.map(({ role, text }) => ({ role, text: text.replaceAll(CUT_OFF, "") }));
  for (const { text } of [...heard.toReversed(), ...memory.toReversed()]) {
    const value = [...text.matchAll(wanted)].at(-1)?.[1];
    if (value !== undefined) return value;
  }
  return `I do not know ${key}`;
}

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function steps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `Step ${at + 1} of ${count} done. `);
}

const PIECE_CHARS = 12;

/** Answers come in pieces, so that there is a middle to break in. */
function say(text: string): Act {
  const pieces: string[] = [];
  const points = Array.from(text);
  for (let at = 0; at < points.length; at += PIECE_CHARS)
    pieces.push(points.slice(at, at + PIECE_CHARS).join(""));
  return { do: "say", pieces };
}

function fingerprint(text: string): string {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}
