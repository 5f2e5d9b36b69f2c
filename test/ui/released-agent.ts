/** An agent of our own loop that answers by what it is asked, and waits where the test says so. */
import { Agent } from "#agent/agent";
import { openModel } from "#agent/models/open-model";
import type { Holdfast } from "#conversation/holdfast";
import type { Tool } from "#turn/effects/tool";
import { ScriptedModel } from "../agent/scripted-model.ts";

type Answer = Extract<ConstructorParameters<typeof ScriptedModel>[0][number], { readonly text?: string }>;
type Asked = ScriptedModel["asked"][number];

const ANSWERS_MAX = 100;
const released = new Map<string, PromiseWithResolvers<void>>();
const never = new Promise<void>(() => undefined);

/** What the agent waits for before it is done. */
export function gate(name: string): PromiseWithResolvers<void> {
  const known = released.get(name) ?? Promise.withResolvers<void>();
  released.set(name, known);
  return known;
}

const times = new Map<string, number>();

/** As nothing was asked yet: files that share a process share what was released for one of them. */
export function resetGates(): void {
  released.clear();
  times.clear();
}

const PROMPTS = [
  "Post it",
  "Post another",
  "Work",
  "Faster",
  "Run on",
  "Fail",
  "Who are you?",
  "Unsent words",
];

/** What was said last that is to be answered, behind which there may be reminders. */
function askedLast({ prompt }: Asked): string {
  for (const { role, content } of prompt.toReversed()) {
    const words = JSON.stringify(content);
    if (role === "tool") return words.includes("posted") ? "done" : "denied";
    const found = role === "user" ? PROMPTS.find((one) => words.includes(one)) : undefined;
    if (found !== undefined) return found;
  }
  return "";
}

/** To each prompt the first time, and again. */
function answerTo(given: Asked): Answer {
  const asked = askedLast(given);
  if (asked === "done") return { text: "It is **posted**." };
  if (asked === "denied") return { text: "Then not." };
  const round = (times.get(asked) ?? 0) + 1;
  times.set(asked, round);
  if (asked.startsWith("Post"))
    return {
      thinking: "A letter is wanted.",
      calls: [{ id: `${asked} ${round}`, name: "post", input: { to: "Ada" } }],
    };
  if (asked === "Work") return { text: "Working, word by word", until: gate("work").promise };
  if (asked === "Run on")
    return round === 1 ? { text: "Running on", until: never } : { text: "Gone on with" };
  if (asked === "Fail" && round === 1) return { error: new Error("The model is out") };
  return { text: asked === "Faster" ? "As fast as I can" : "Answered" };
}

const scripted = (name: string): ScriptedModel =>
  new ScriptedModel(
    Array.from({ length: ANSWERS_MAX }, () => answerTo),
    name,
  );
const post: Tool = { name: "post", description: "Posts a letter.", run: async () => "posted" };
export const MODELS: readonly string[] = ["scripted/one", "scripted/two"];
const named = new Map(MODELS.map((name) => [name, scripted(name.slice("scripted/".length))]));
export const releasedAgent = (holdfast: Holdfast): Agent =>
  new Agent(holdfast, {
    model: "scripted/one",
    openModel: (given) => openModel(typeof given === "string" ? (named.get(given) ?? given) : given),
    tools: [post],
    instructions: false,
    permission: () => "ask",
  });
