/* oxlint-disable no-console */
import {
  openHoldfast,
  type PromptEvent,
  type PromptRequest,
  Runtime,
  type Tool,
  type Upstream,
  type UpstreamSession,
} from "../src/index.ts";

const sendEmail: Tool = { name: "send_email", run: async () => "sent" };

// An agent of your own: a loop around a model, here without the model.
async function* prompt({ runEffects }: PromptRequest): AsyncGenerator<PromptEvent> {
  // The calls of one answer; `step` tells calls apart whose ids come again in every answer.
  const calls = [{ id: "call_0", input: { to: "bob" }, tool: sendEmail }];
  const [outcome] = await runEffects(calls, { step: 0 });
  yield { type: "text", text: outcome?.state === "done" ? `Bob's email is ${outcome.output}.` : "Ask Bob." };
  const end = { stopReason: "end_turn", error: null, exited: false, durationMs: 1_000, usage: null };
  yield { type: "end", end };
}

const nothing = async (): Promise<void> => undefined;
const session = async (): Promise<UpstreamSession> => ({
  id: "loop-1",
  transcript: null,
  process: "here",
  prompt,
  cancel: nothing,
  close: nothing,
});
const agent: Upstream = {
  agent: "loop",
  account: null,
  capabilities: { resume: true, fork: "none", trustedResume: true },
  open: session,
  resume: session,
  fork: session,
  restart: nothing,
};

await using holdfast = await openHoldfast({ store: "memory:" });
await using runtime = new Runtime(holdfast, { upstreams: [agent] });
const chat = await holdfast.create({ title: "Rent" });
const sent = await runtime.send(chat, "email bob");
console.log(
  sent.text,
  (await chat.effects()).map((effect) => effect.state),
);
