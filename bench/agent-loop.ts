import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { Agent } from "../src/agent/index.ts";
import type { Conversation } from "../src/conversation/conversation.ts";
import { openHoldfast } from "../src/open.ts";
import { fill } from "./history.ts";
import type { Row } from "./report.ts";
import { alternate, type Timing } from "./sample.ts";
import { MESSAGE_CHARS, type Stage } from "./stage.ts";

const UPDATES = 4_000;
const STEPS = 20;
const HISTORY = 200;
/** What the model looks for in what it is sent. */
export const ASKED = "go on with it";

/** What the loop adds to its model: per streamed piece of text, and per step with a tool, over a conversation of some length. */
export async function measureAgentLoop(stage: Stage): Promise<readonly Row[]> {
  await using holdfast = await openHoldfast({ store: `sqlite:${stage.path("agent-loop.db")}` });
  const conversation = await holdfast.create({ id: "loop" });
  await fill(conversation, { messages: HISTORY, chars: MESSAGE_CHARS });
  const tool = { name: "look", effect: "none", run: async () => "seen" } as const;
  const model = new StreamingModel();
  const agent = new Agent(holdfast, { model, tools: [tool], instructions: false, compaction: null });
  const drain = async (answers: number): Promise<void> => {
    for (let at = 0; at < answers; at++)
      for await (const part of (await model.doStream({ prompt: [] })).stream) void part;
  };
  // Each turn begins where the others did, so that none pays for those before it.
  const { leaf } = await conversation.head();
  const turn = {
    before: () => conversation.goTo(leaf.id),
    run: () => agent.send(conversation, ASKED),
  };
  model.shape = { updates: UPDATES, calls: 0 };
  const streamed = await alternate({ ours: turn, bare: { run: () => drain(1) } }, stage.plan(30, 15_000));
  model.shape = { updates: 1, calls: STEPS };
  const stepped = await alternate(
    { ours: turn, bare: { run: () => drain(STEPS + 1) } },
    stage.plan(30, 15_000),
  );
  const batches = await alternate(
    {
      ours: { before: turn.before, run: () => appendSteps(conversation) },
      bare: { run: () => drain(STEPS) },
    },
    stage.plan(30, 15_000),
  );
  return [
    added(`loop, per streamed update (${UPDATES} in an answer)`, streamed, UPDATES),
    added(`loop, per step with a tool, ${HISTORY} messages before it`, stepped, STEPS + 1),
    added("– the batches of a step alone, each after the one before", batches, STEPS),
  ];
}

/** What steps leave in the log: that the model was asked, its answer, and the result of its call. */
async function appendSteps(conversation: Conversation): Promise<void> {
  await using owner = await conversation.own({ writer: "bench", leaseMs: 30_000 });
  for (let step = 0; step < STEPS; step++) {
    const call = { type: "toolCall", id: `c${step}`, name: "look", input: {} } as const;
    const answer = { role: "assistant", content: [{ type: "text", text: "some words" }, call] } as const;
    const result = {
      role: "toolResult",
      toolCallId: call.id,
      content: [{ type: "text", text: "seen" }],
    } as const;
    await owner.append({ type: "attempt", turn: "t", model: "bench/stream" }, { durability: "relaxed" });
    await owner.append({ type: "message", message: answer });
    await owner.append({ type: "message", message: result });
  }
}

function added(work: string, times: { readonly ours: Timing; readonly bare: Timing }, count: number): Row {
  const { ours, bare } = times;
  const value = ((ours.medianMs - bare.medianMs) / count) * 1_000;
  return { work, against: "the model alone", value, unit: "us", budget: null, ours, theirs: bare };
}

/** A model that costs nothing: as many pieces of text as told, and so many answers with a call before the last. */
export class StreamingModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider = "bench";
  readonly modelId = "stream";
  readonly supportedUrls = {};
  shape: { readonly updates: number; readonly calls: number } = { updates: 1, calls: 0 };

  doGenerate(): never {
    throw new Error("only streams");
  }

  async doStream({ prompt }: LanguageModelV4CallOptions): Promise<{
    stream: ReadableStream<LanguageModelV4StreamPart>;
  }> {
    // What is asked is the last thing said by a person; a reminder follows it.
    const last = prompt.findLastIndex(
      ({ role, content }) => role === "user" && JSON.stringify(content).includes(ASKED),
    );
    const asked = prompt.slice(last).filter(({ role }) => role === "assistant").length;
    return { stream: ReadableStream.from(this.#parts(asked < this.shape.calls)) };
  }

  *#parts(calls: boolean): Generator<LanguageModelV4StreamPart> {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    for (let at = 0; at < this.shape.updates; at++)
      yield { type: "text-delta", id: "t", delta: "some words " };
    yield { type: "text-end", id: "t" };
    if (calls) yield { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" };
    yield {
      type: "finish",
      finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    };
  }
}
