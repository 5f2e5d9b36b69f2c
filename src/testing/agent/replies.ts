import {
  echo,
  escapeForRegExp,
  notedText,
  orderOf,
  piecesOf,
  recallFact,
  workSteps,
} from "#agent/models/sim-orders";
import { CUT_OFF_LABEL } from "#upstream/rules/preamble";
import { GO_ON } from "#turn/rules/unanswered";

const STEPS_MAX = 100_000; // what somebody wrote is not what was done

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
export function actsFor(text: string, memory: readonly Line[]): Act {
  const command = orderOf(text);
  const remember = /^remember ([^\s=]+)=(.+)$/i.exec(command);
  if (remember !== null) return say(notedText(remember[1] ?? "", remember[2] ?? "", command !== text));
  const recall = /^recall (\S+)$/i.exec(command);
  if (recall !== null) return say(recalledFrom(recall[1] ?? "", memory));
  const work = /^work (\d+)$/i.exec(command);
  if (work !== null) return { do: "say", pieces: workSteps(Number(work[1])) };
  const email = /^email (\S+) about (.+)$/i.exec(command);
  if (email !== null) return emailOrRefusal(email[1] ?? "", email[2] ?? "", memory);
  return (command === GO_ON ? restOfWork(memory) : null) ?? say(echo(command));
}

/** The steps of a long answer that its cut-off part does not have. */
function restOfWork(memory: readonly Line[]): Act | null {
  const steps = memory.flatMap(({ text }) => [...text.matchAll(/Step (\d+) of (\d+) done/g)]);
  const [, done, all] = steps.at(-1) ?? [];
  const rest = workSteps(Math.min(Number(all ?? 0), STEPS_MAX)).slice(Number(done ?? 0));
  return rest.length === 0 ? null : { do: "say", pieces: rest };
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

function recalledFrom(key: string, memory: readonly Line[]): string {
  // An answer that was cut off has half a value in it: what was told counts before what was answered.
  const prompts = memory.filter(({ role }) => role === "user");
  const texts = prompts.map(({ text }) => text.replaceAll(CUT_OFF, ""));
  const all = memory.map(({ text }) => text);
  return recallFact(key, texts) ?? recallFact(key, all) ?? `I do not know ${key}`;
}

function say(text: string): Act {
  return { do: "say", pieces: piecesOf(text) };
}
