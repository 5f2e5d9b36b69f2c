import { createHash } from "node:crypto";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { canonicalText, isSameJson } from "#log/json/same-json";
import type { Owner } from "#conversation/owner";

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

/** Which answer of the model in this turn the calls belong to, where their ids come again in each. */
export interface EffectStep {
  readonly step?: number;
}

const RUNS_MAX = 3; // for tools that may be repeated: a crash loop must end

/**
 * Runs tool calls so that each effect happens at most once, whatever fails: the intents are durable before any tool
 * starts, each outcome as soon as it is known. Calls run side by side; the context puts results in the order of calls.
 * A call is known by its turn, its step, its id and its input.
 */
export async function runEffects(
  owner: Owner,
  turn: string,
  given: EffectStep & { readonly calls: readonly ToolCallRequest[]; readonly signal: AbortSignal },
): Promise<readonly EffectOutcome[]> {
  const { calls, signal, step } = given;
  return onceEach(calls, (call) => runEffect({ owner, turn, step, signal }, call));
}

export function unlikeCalls(call: string): LogError {
  const why = `Two calls of one answer are called ${call} and are not the same; the second was not run`;
  return new LogError("invalid_request", why, { call });
}

/** A call that stands in a list twice runs once; two calls under one id cannot be told apart by whoever reads on. */
export async function onceEach(
  calls: readonly ToolCallRequest[],
  run: (call: ToolCallRequest) => Promise<EffectOutcome>,
): Promise<readonly EffectOutcome[]> {
  const first = new Map<string, ToolCallRequest>();
  for (const call of calls) {
    const before = first.get(call.id) ?? call;
    first.set(call.id, before);
    if (before.tool.name !== call.tool.name || !isSameJson(before.input, call.input))
      throw unlikeCalls(call.id);
  }
  const running = new Map([...first.values()].map((call) => [call, run(call)] as const));
  return Promise.all(
    calls.map(async (call): Promise<EffectOutcome> => {
      const before = first.get(call.id) ?? call;
      const outcome = await (running.get(before) ?? run(before));
      return before === call || outcome.state === "unknown" ? outcome : { ...outcome, ran: false };
    }),
  );
}

interface CallPlace {
  readonly turn: string;
  readonly step?: number | undefined;
}

/** The key of the first call of that name in its place. */
export function effectKey({ turn, step }: CallPlace, call: string): string {
  return step === undefined ? `effect/${turn}/${call}` : `effect/${turn}/step ${step}/${call}`;
}

/** The key of a call under whose first key there is another. */
function otherEffectKey(at: CallPlace, call: ToolCallRequest): string {
  const whole = [at.turn, at.step ?? null, call.id, call.tool.name, call.input];
  const digest = createHash("sha256").update(canonicalText(whole)).digest("hex");
  return `${effectKey(at, call.id)}/${digest}`;
}

interface Running extends CallPlace {
  readonly owner: Owner;
  readonly signal: AbortSignal;
}

async function runEffect(at: Running, call: ToolCallRequest): Promise<EffectOutcome> {
  const key = await keyOf(at, call);
  const known = await at.owner.findAppend(`${key}/outcome`);
  if (known !== null) return storedOutcome(await at.owner.entry(known.lastId));
  const run = await claim(at, call, key);
  if (run === null) return { state: "unknown" };
  const outcome = await act(call, { idempotencyKey: key, signal: at.signal });
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

/** Providers number their calls anew in every answer: an id that was used for something else is another call's. */
async function keyOf(at: Running, call: ToolCallRequest): Promise<string> {
  const key = effectKey(at, call.id);
  const found = await at.owner.findAppend(`${key}/intent/1`);
  if (found === null) return key;
  const first = await at.owner.entry(found.lastId);
  const same =
    first.type === "tool_intent" &&
    first.call === call.id &&
    first.turn === at.turn &&
    first.step === at.step &&
    first.name === call.tool.name &&
    isSameJson(first.input, call.input);
  return same ? key : otherEffectKey(at, call);
}

/** Makes the intent durable; null when an earlier start forbids another. */
async function claim(at: Running, call: ToolCallRequest, key: string): Promise<number | null> {
  const replay = call.tool.replay ?? "never";
  const { turn, step } = at;
  for (let run = 1; run <= RUNS_MAX; run++) {
    const before = await at.owner.findAppend(`${key}/intent/${run}`);
    const made =
      before ??
      (await at.owner.append(
        {
          type: "tool_intent",
          call: call.id,
          name: call.tool.name,
          input: call.input,
          replay,
          idempotencyKey: key,
          turn,
          ...(step === undefined ? {} : { step }),
        },
        { key: `${key}/intent/${run}` },
      ));
    // Another may have been at it at the same time: then it runs there.
    if (before === null && "deduped" in made) return made.deduped ? null : run;
    // Both the record and today's code must say that a repetition is safe.
    const intent = await at.owner.entry(made.lastId);
    if (replay !== "safe" || intent.type !== "tool_intent" || intent.replay !== "safe") return null;
  }
  return null;
}

export async function act(
  call: ToolCallRequest,
  how: { readonly idempotencyKey: string; readonly signal: AbortSignal },
): Promise<Extract<EffectOutcome, { state: "done" | "failed" }>> {
  try {
    return { state: "done", output: await call.tool.run(call.input, how), ran: true };
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
