import type { Entry } from "../log/entry.ts";
import type { Json } from "../log/json-text.ts";
import type { Conversation } from "./conversation.ts";
import type { Owner } from "./owner.ts";

/** A tool that Holdfast runs. Undeclared, its effect is never repeated. */
export interface Tool {
  readonly name: string;
  readonly replay?: "never" | "safe";
  run(input: Json, call: { readonly idempotencyKey: string; readonly signal: AbortSignal }): Promise<string>;
}

export interface ToolCallRequest {
  readonly id: string;
  readonly input: Json;
  readonly tool: Tool;
}

export type EffectOutcome =
  | { readonly state: "done" | "failed"; readonly output: string; readonly ran: boolean }
  /** It was started once and nobody knows how it ended. It is not started again. */
  | { readonly state: "unknown" };

const RUNS_MAX = 3; // for tools that may be repeated: a crash loop must end

/**
 * Runs tool calls so that each effect happens at most once, whatever fails: the intents are durable before any tool
 * starts, each outcome as soon as it is known. Calls run side by side; the context puts results in the order of calls.
 */
export async function runEffects(
  conversation: Conversation,
  owner: Owner,
  turn: string,
  given: { readonly calls: readonly ToolCallRequest[]; readonly signal: AbortSignal },
): Promise<readonly EffectOutcome[]> {
  return Promise.all(
    given.calls.map((call) => runEffect({ conversation, owner, turn, signal: given.signal }, call)),
  );
}

interface Running {
  readonly conversation: Conversation;
  readonly owner: Owner;
  readonly turn: string;
  readonly signal: AbortSignal;
}

async function runEffect(at: Running, call: ToolCallRequest): Promise<EffectOutcome> {
  const key = `effect/${at.turn}/${call.id}`;
  const known = await at.conversation.findAppend(`${key}/outcome`);
  if (known !== null) return storedOutcome(await at.conversation.entry(known.lastId));
  const run = await claim(at, call, key);
  if (run === null) return { state: "unknown" };
  const outcome = await act(at, call, key);
  await at.owner.append(
    {
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.tool.name,
        isError: outcome.state === "failed",
        content: [{ type: "text", text: outcome.output }],
      },
    },
    { key: `${key}/outcome` },
  );
  return outcome;
}

/** Makes the intent durable; null when an earlier start forbids another. */
async function claim(at: Running, call: ToolCallRequest, key: string): Promise<number | null> {
  const replay = call.tool.replay ?? "never";
  for (let run = 1; run <= RUNS_MAX; run++) {
    const before = await at.conversation.findAppend(`${key}/intent/${run}`);
    if (before === null) {
      await at.owner.append(
        {
          type: "tool_intent",
          call: call.id,
          name: call.tool.name,
          input: call.input,
          replay,
          idempotencyKey: key,
          turn: at.turn,
        },
        { key: `${key}/intent/${run}` },
      );
      return run;
    }
    // Both the record and today's code must say that a repetition is safe.
    const intent = await at.conversation.entry(before.lastId);
    if (replay !== "safe" || intent.type !== "tool_intent" || intent.replay !== "safe") return null;
  }
  return null;
}

async function act(
  at: Running,
  call: ToolCallRequest,
  key: string,
): Promise<Extract<EffectOutcome, { state: "done" | "failed" }>> {
  try {
    const output = await call.tool.run(call.input, { idempotencyKey: key, signal: at.signal });
    return { state: "done", output, ran: true };
  } catch (error) {
    return { state: "failed", output: error instanceof Error ? error.message : String(error), ran: true };
  }
}

function storedOutcome(entry: Entry): EffectOutcome {
  if (entry.type !== "message" || entry.message.role !== "toolResult") return { state: "unknown" };
  const output = entry.message.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("");
  return { state: entry.message.isError === true ? "failed" : "done", output, ran: false };
}
