import type { AgentResult } from "#agent/agent-options";
import type { SendResult } from "#sending/finish-turn";
import type { HostEvent } from "#turn/host";

/** What came of a prompt, whoever carried it: an agent, or a loop, which counts its steps. */
export type Carried = Pick<SendResult, "turn" | "prompt" | "text"> &
  Pick<AgentResult, "outcome" | "class"> & { readonly steps?: number };

/** The words that were passed on while turns ran. */
function passedOn(events: readonly HostEvent[]): string {
  return events
    .map((event) => (event.type === "update" && event.event.type === "text" ? event.event.text : ""))
    .join("");
}

/** How many answers a loop asked for, also before and after it waited for a person; each attempt at one has the same number. */
function answersAsked(events: readonly HostEvent[]): number {
  let [answers, last] = [0, 0];
  for (const event of events) {
    if (event.type === "accepted") last = 0;
    if (event.type !== "step" || event.step === last) continue;
    answers++;
    last = event.step;
  }
  return answers;
}

/** What is wrong with what people were told of a turn while it ran. */
export function heardFaults(events: readonly HostEvent[], result: Carried): readonly string[] {
  const lost = events.filter((event) => event.type === "lost").length;
  const words = passedOn(events);
  return [
    // A loop may lose each of its answers once.
    ...(lost > Math.max(1, answersAsked(events)) ? [`recovered ${lost} times`] : []),
    // Where a later answer of a loop failed, its last one was passed on before what came of that.
    ...((result.steps === undefined ? words.endsWith(result.text) : words.includes(result.text))
      ? []
      : ["the answer is not what was passed on"]),
  ];
}

/** Everything that was answered: a loop may have said it before its last answer. */
export function wholeText(events: readonly HostEvent[], { text, steps }: Carried): string {
  return steps === undefined ? text : `${text}\n${passedOn(events)}`;
}
