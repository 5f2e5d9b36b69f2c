import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { AgentModel } from "#agent/models/model";
import { CAUTIOUS_SIM } from "#agent/models/sim/sim-model";
import { EMAIL_TOOL } from "#agent/models/sim/sim-orders";
import { type Clock, systemClock, NEVER } from "#conversation/clock";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Tool } from "#turn/effects/tool";

/** What needs no key: one that does as the simulated agent does, and one that calls nothing. */
export const SIM_MODELS: readonly string[] = ["sim", CAUTIOUS_SIM];

const THINK_MS = 300;
const PIECE_MS = 40;

/** What the simulated agent sends emails by; they go nowhere here either. */
export const simulatedEmail: Tool = {
  name: EMAIL_TOOL,
  description: "Sends an email.",
  input: {
    type: "object",
    properties: { to: { type: "string" }, about: { type: "string" } },
    required: ["to", "about"],
    additionalProperties: false,
  },
  run: async (input) => `Sent: ${emailText(input)}`,
  dryRun: async (input) => `Would be sent: ${emailText(input)}`,
};

function emailText(input: Json): string {
  const { to, about } = fieldsOf(input);
  return `email ${wordsIn(to)} about ${wordsIn(about)}`;
}

/** A model whose words take their time, so that a person can watch it, and stop it. */
export function atPace(
  given: AgentModel,
  speed: number,
  clock: Pick<Clock, "sleep"> = systemClock,
): AgentModel {
  return { ...given, model: pacedModel(given.model as LanguageModelV4, speed, clock) };
}

function pacedModel(model: LanguageModelV4, speed: number, { sleep }: Pick<Clock, "sleep">): LanguageModelV4 {
  const doStream: LanguageModelV4["doStream"] = async (options) => {
    const { abortSignal = NEVER } = options;
    const wait = (ms: number): Promise<void> => sleep(ms / speed, abortSignal);
    const pace = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      async transform(part, controller) {
        if (part.type === "stream-start") await wait(THINK_MS);
        else if (part.type.endsWith("-delta")) await wait(PIECE_MS);
        controller.enqueue(part);
      },
    });
    const answer = await model.doStream(options);
    return { ...answer, stream: answer.stream.pipeThrough(pace) };
  };
  return { ...model, doStream };
}
