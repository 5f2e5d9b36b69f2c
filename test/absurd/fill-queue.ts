/**
 * A queue as apps of three kinds leave it, filled by Absurd's own SDK: steps that give the messages they appended, as the loops of
 * its documentation do, one step for each message, and tasks that follow each other in one conversation; one that failed and was tried
 * again, one that waits, and others that have no messages at all.
 */
import { Absurd, type TaskContext } from "absurd-sdk";
import type pg from "pg";

type Json = { readonly [name: string]: unknown };

const quiet = { log: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // The attempt that fails is meant to.
}

/** The result of a tool with what is hard to keep: members that jsonb puts in another order, escapes, emoji, numbers. */
const FOUND = {
  zebra: 1,
  apple: [1.5, -0.25, 1e21, { "10": "b", "9": "a" }],
  text: 'quotes " and \\ and \u2028 and \u{1F600}',
};

const call = (id: string, name: string, input: unknown): Json => ({
  type: "toolCall",
  id,
  name,
  arguments: input,
});
const text = (words: string): Json => ({ type: "text", text: words });

/** An agent's loop whose steps give what they appended, and what a loop goes on by. */
async function mailTurn(
  params: { readonly turn: number; readonly failing?: boolean },
  ctx: TaskContext,
): Promise<Json> {
  await ctx.step("create-session", async () => ({ sessionId: `sess_${params.turn}` }));
  const usage = { inputTokens: 812, outputTokens: 96 };
  for (let n = 1; n <= 12; n++) {
    await ctx.step("agent-loop", async () => ({
      appendedMessages: [
        ...(n === 1
          ? [{ role: "user", content: `mail ${params.turn}: what is open?`, timestamp: 1_767_225_600_000 }]
          : []),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", thinkingSignature: "c2ln" },
            text(`Looking (${n}).`),
            call(`c${params.turn}-${n}`, "ReadFile", { path: `f${n}`, opts: FOUND }),
          ],
          stopReason: "toolUse",
          timestamp: 1_767_225_600_000 + n,
        },
        {
          role: "toolResult",
          toolCallId: `c${params.turn}-${n}`,
          toolName: "ReadFile",
          content: [text(JSON.stringify(FOUND))],
          isError: n % 5 === 0,
          details: { type: "sentEmail", zeta: n, alpha: [null, true] },
        },
      ],
      finishReason: "toolUse",
      usage,
      executedLocalToolCount: 1,
    }));
    if (params.failing === true && n === 4) {
      // Once: the attempt after it finds that step, and goes on.
      const known = await ctx.beginStep<boolean>("failed");
      if (!known.done) {
        await ctx.completeStep(known, true);
        throw new Error("a worker that fails in the middle");
      }
    }
  }
  await ctx.step("agent-loop", async () => ({
    appendedMessages: [{ role: "assistant", content: [text("Two are open.")], stopReason: "stop" }],
    finishReason: "stop",
    usage,
    executedLocalToolCount: 0,
  }));
  return { done: true };
}

/** The loop of Absurd's own example: the prompt is a parameter, a step gives the messages that are new. */
async function promptTurn(_: { readonly prompt: string }, ctx: TaskContext): Promise<Json> {
  await ctx.step("iteration", async () => ({
    newMessages: [
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "w1", toolName: "weather", input: { city: "Oslo" } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "w1",
            toolName: "weather",
            output: { type: "json", value: FOUND },
          },
        ],
      },
    ],
    finishReason: "tool-calls",
  }));
  await ctx.step("iteration", async () => ({
    newMessages: [{ role: "assistant", content: [{ type: "text", text: "It rains." }] }],
    finishReason: "stop",
  }));
  return { finished: true };
}

/** One step for each message, in another library's words; it waits for a person in between. */
async function messageTurn(_: Json, ctx: TaskContext): Promise<Json> {
  await ctx.step("message", async () => ({ role: "user", content: "Delete it" }));
  await ctx.step("message", async () => ({
    role: "assistant",
    content: [{ type: "tool_use", id: "d1", name: "delete", input: { path: "a" } }],
  }));
  const { ok } = (await ctx.awaitEvent(`allowed:${ctx.taskID}`)) as { ok: boolean };
  await ctx.step("message", async () => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "d1", content: ok ? "deleted" : "refused" }],
  }));
  await ctx.step("message", async () => ({ role: "assistant", content: "Done." }));
  return {};
}

export interface FilledQueue {
  readonly queue: string;
  /** The task that waits for a person. */
  readonly waiting: string;
  /** Lets it go on, and whatever is behind it in the queue. */
  allow(): Promise<void>;
}

export async function fillQueue(pool: pg.Pool, queue: string): Promise<FilledQueue> {
  const app = new Absurd({ db: pool, queueName: queue, log: quiet });
  await app.createQueue();
  app.registerTask<{ turn: number; failing?: boolean }>({ name: "mail", queue }, mailTurn);
  app.registerTask<{ prompt: string }>({ name: "prompt", queue }, promptTurn);
  app.registerTask<Json>({ name: "message", queue }, messageTurn);
  app.registerTask<Json>({ name: "cleanup", queue }, async (__, ctx) => {
    await ctx.step("count", async () => 3);
    return {};
  });
  const options = { queue, maxAttempts: 3, retryStrategy: { kind: "none" } } as const;
  const work = async (): Promise<void> => {
    for (let batch = 0; batch < 4; batch++) await app.workBatch("filler", 60, 10);
  };
  const { taskID: first } = await app.spawn(
    "mail",
    { conversationId: "thread-1", turn: 1, failing: true },
    options,
  );
  await work();
  await app.spawn("mail", { conversationId: "thread-1", turn: 2 }, options);
  await app.spawn("prompt", { prompt: "What is the weather?" }, options);
  await app.spawn("cleanup", {}, options);
  await work();
  const { taskID: waiting } = await app.spawn("message", { conversationId: "files@example.org" }, options);
  await work();
  // Behind the one that waits, in the same conversation.
  await app.spawn("prompt", { conversationId: "files@example.org", prompt: "And the weather?" }, options);
  await work();
  // As a late attempt leaves it: what it says is the same, its time is the latest.
  await pool.query(
    `update absurd.c_${queue} set updated_at = now() + interval '1 minute'
     where task_id = $1 and checkpoint_name = 'agent-loop#3'`,
    [first],
  );
  return {
    queue,
    waiting,
    async allow() {
      await app.emitEvent(`allowed:${waiting}`, { ok: true }, queue);
      await work();
    },
  };
}
