import type { AgentResult } from "#agent/agent-options";
import type { SendResult } from "#upstream/finish-turn";
import type { StoryWitness } from "./story-rules.ts";
import type { HostEvent } from "#turn/host";

/** What came of a prompt, whoever carried it: an agent, or a loop, which counts its steps. */
export type Carried = Pick<SendResult, "turn" | "prompt" | "text"> &
  Pick<AgentResult, "outcome" | "class"> & { readonly steps?: number };

function textIn(event: HostEvent): string {
  return event.type === "update" && event.event.type === "text" ? event.event.text : "";
}

/** The words that were passed on while turns ran. */
function passedOn(events: readonly HostEvent[]): string {
  return events.map(textIn).join("");
}

interface HeardAnswer {
  /** Of each attempt at it: the words that were passed on. */
  readonly texts: string[];
  lost: number;
}

/** The answers that a loop asked for, also before and after it waited for a person; each attempt at one has the same number. */
function answersHeard(events: readonly HostEvent[]): readonly HeardAnswer[] {
  const answers: HeardAnswer[] = [];
  let last = 0;
  for (const event of events) {
    if (event.type === "accepted") last = 0;
    if (event.type === "step" && event.step !== last) answers.push({ texts: [], lost: 0 });
    const answer = answers.at(-1);
    if (answer === undefined) continue;
    if (event.type === "step") {
      answer.texts.push("");
      last = event.step;
    }
    if (event.type === "lost") answer.lost++;
    answer.texts.push((answer.texts.pop() ?? "") + textIn(event));
  }
  return answers;
}

/** What is wrong with what people were told of a turn while it ran. */
export function heardFaults(
  events: readonly HostEvent[],
  result: Carried,
  witness: Pick<StoryWitness, "spoke">,
): readonly string[] {
  const { text, steps } = result;
  const answers = answersHeard(events);
  // A loop may lose each of its answers once.
  const lost =
    steps === undefined
      ? events.filter((event) => event.type === "lost").length
      : Math.max(0, ...answers.map((answer) => answer.lost));
  // Where the last answer of a loop failed without a word, one before it counts, which a host that was killed may have heard.
  const wasSilent = (answers.at(-1)?.texts.at(-1) ?? "") === "";
  const isPassedOn =
    steps === undefined
      ? passedOn(events).endsWith(text)
      : text === "" || wasSilent || answers.some(({ texts }) => texts.includes(text));
  const unheard = events.filter(
    (event) => "class" in event && event.class === "empty" && witness.spoke(event.upstream ?? ""),
  );
  return [
    ...unheard.map(({ upstream }) => `${upstream} answered, and was taken to have said nothing`),
    ...(lost > 1 ? [`recovered ${lost} times`] : []),
    ...(isPassedOn ? [] : ["the answer is not what was passed on"]),
  ];
}

/** Everything that was answered: a loop may have said it before its last answer. */
export function wholeText(events: readonly HostEvent[], { text, steps }: Carried): string {
  return steps === undefined ? text : `${text}\n${passedOn(events)}`;
}
