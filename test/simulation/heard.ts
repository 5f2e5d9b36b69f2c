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

/** What is wrong with what people were told of a turn while it ran. */
export function heardFaults(events: readonly HostEvent[], result: Carried): readonly string[] {
  const lost = events.filter((event) => event.type === "lost").length;
  const words = passedOn(events);
  return [
    // A loop may lose each of its answers once.
    ...(lost > (result.steps ?? 1) ? [`recovered ${lost} times`] : []),
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
