import { client, faults } from "../data/api-client.ts";
import { tourSeen } from "../data/preferences.ts";
import { health, mayWrite } from "../frame/store-foot.tsx";
import { warn } from "../frame/said.tsx";
import { conversationAddress } from "../router/addresses.ts";
import { navigate } from "../router/location.ts";
import { type TourAct, tourSteps } from "./tour-steps.ts";
import { type Tour, tour } from "./tour-under-way.ts";
import { troublesOf } from "../pages/conversation/trouble/trouble-table.ts";

let before: Element | null = null;

/** Begins at the history, with what this server lets one see. */
export async function beginTour(): Promise<void> {
  before = document.activeElement;
  tourSeen.value = "yes";
  const found = await client.listAgents().catch(() => null);
  const agent = found?.agents.find((one) => troublesOf(one).length > 0)?.agent ?? null;
  const isAdmin = health.value?.rights === "admin";
  const on = !mayWrite.value ? "nothing" : agent !== null ? "simulated" : isAdmin ? "sample" : "nothing";
  tour.value = { steps: tourSteps(on), at: 0, conversation: null, agent, isBusy: false };
  navigate("/");
}

export function endTour(): void {
  tour.value = null;
  if (before instanceof HTMLElement && before.isConnected) before.focus();
  else document.getElementById("main")?.focus();
}

async function made(now: Tour): Promise<string> {
  if (now.conversation !== null) return now.conversation;
  if (now.agent !== null) return (await client.createConversation({ title: "A tour" })).conversation;
  const { makeSample, SAMPLE_ID } = await import("../pages/history/sample/sample-conversations.ts");
  await makeSample(Date.now());
  return SAMPLE_ID;
}

async function answered(conversation: string, agent: string, content: string): Promise<void> {
  const begun = await client.send({ conversation, content, agent });
  for await (const _ of client.turnEvents(begun));
}

const ACTS: {
  readonly [A in TourAct]: (conversation: string, agent: string) => Promise<unknown>;
} = {
  begin: (conversation, agent) => answered(conversation, agent, "My name is Ada"),
  strike: async (conversation, agent) => {
    await faults.strikeAgent({ agent, kind: "expire" });
    await answered(conversation, agent, "What is my name?");
  },
  edit: async (conversation, agent) => {
    const { entries } = await client.listBranch({ conversation, from: 0, limit: 10 });
    const first = entries.find((entry) => entry.type === "message" && entry.message.role === "user");
    if (first === undefined) return;
    const begun = await client.edit({ conversation, agent, entry: first.id, content: "My name is Bea" });
    for await (const _ of client.turnEvents(begun));
  },
};

/** Does what the step says, and leads to the one after it, or back to the one before. */
export async function goInTour(step: 1 | -1): Promise<void> {
  const now = tour.value;
  if (now === null || now.isBusy) return;
  const next = now.steps[now.at + step];
  if (next === undefined) return endTour();
  const { act } = now.steps[now.at] ?? {};
  tour.value = { ...now, isBusy: true };
  try {
    let { conversation } = now;
    if (step === 1 && act !== undefined && conversation !== null && now.agent !== null)
      await ACTS[act](conversation, now.agent);
    if (next.page !== "history" && next.page !== "any") conversation = await made(now);
    if (tour.value === null) return; // ended meanwhile
    tour.value = { ...now, at: now.at + step, conversation, isBusy: false };
    if (next.page === "history") navigate("/");
    else if (next.page !== "any" && conversation !== null)
      navigate(conversationAddress(conversation, next.page));
  } catch (error) {
    if (tour.value !== null) tour.value = now;
    warn(error instanceof Error ? error.message : "That failed. Try again.");
  }
}
