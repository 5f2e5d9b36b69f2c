/** The file of effects is what happened; log, transcript and model must say nothing else of it. */
import { readFileSync } from "node:fs";
import type { BridgeRig } from "./bridge-rig.ts";
import { storedBy } from "./bridge-story.ts";
import type { AgentName } from "./install.ts";
import { at, listAt, parsed, textAt } from "./json.ts";
import { EFFECTS_FILE, hasRun } from "./kill-plan.ts";

/** What the log has of a call: its state, or how it ended where that says more. */
type Recorded = string;

export interface Judged {
  readonly token: string;
  readonly ran: boolean;
  readonly recorded: readonly Recorded[];
}

export interface Judgement {
  readonly calls: readonly Judged[];
  readonly violations: readonly string[];
}

/** Compares what is known of these tokens; what still runs may append more meanwhile. */
export async function judgeTokens(
  rig: BridgeRig,
  asked: { readonly agent: AgentName; readonly sessionId: string; readonly tokens: readonly string[] },
): Promise<Judgement> {
  const before = rig.linesOf(EFFECTS_FILE);
  const rows = await rig.effects(asked.sessionId);
  const after = rig.linesOf(EFFECTS_FILE);
  const results = resultsIn(rig, asked.agent);
  const violations: string[] = [];
  const calls = asked.tokens.map((token): Judged => {
    const own = rows.filter((row) => JSON.stringify(at(row, "input")).includes(token));
    const recorded = own.map((row) => textAt(row, "how") || textAt(row, "state"));
    const say = (what: string): number =>
      violations.push(`${token}: ${what} (recorded: ${recorded.join(", ")})`);
    const times = after.filter((line) => line === token).length;
    if (times > 1) say(`ran ${times} times`);
    if (recorded.filter((state) => state !== "not_started").length > 1) say("is recorded more than once");
    if (recorded.includes("done") && times === 0) say("is recorded as done and did not run");
    if (before.includes(token) && !recorded.some((state) => DID_RUN.has(state)))
      say("ran and is not recorded");
    const outputs = results
      .filter(({ input, output }) => input.includes(token) && !UNKNOWN.test(output))
      .map(({ output }) => output);
    if (
      recorded.includes("done") &&
      outputs.length > 0 &&
      !outputs.some((text) => text.includes(hasRun(token)))
    )
      say("is recorded as done, and the transcript says otherwise");
    return { token, ran: times > 0, recorded };
  });
  return { calls, violations };
}

// What an agent writes in the place of a result that it never had.
const UNKNOWN = /outcome is unknown|^aborted/;

const DID_RUN: ReadonlySet<Recorded> = new Set(["done", "failed", "unknown", "stopped"]);

/** What the last request tells the model of these tokens, whichever way it knows. */
export function judgeRequest(rig: BridgeRig, calls: readonly Judged[]): readonly string[] {
  const said = rig.model.requests().at(-1)?.said.join("\n") ?? "";
  const actions = said.split("\n").filter((line) => line.startsWith("> ") && line.includes(EFFECTS_FILE));
  return calls.flatMap(({ token, ran }) => {
    const told = actions.filter((line) => line.includes(token));
    const asDone = told.some((line) => /: done(?::|$)/.test(line));
    if (asDone && !ran) return [`${token}: the model is told that it was done, and it did not run`];
    return ran && !said.includes(token) ? [`${token}: ran, and the model is told nothing of it`] : [];
  });
}

interface CallResult {
  readonly input: string;
  readonly output: string;
}

/** The results of calls in the agent's own records. */
function resultsIn(rig: BridgeRig, agent: AgentName): readonly CallResult[] {
  const inputs = new Map<string, string>();
  const results: CallResult[] = [];
  const items = storedBy(rig, agent)
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .flatMap((line) => itemsOf(parsed(line)));
  for (const item of items) {
    const inputOf = (id: string): string => inputs.get(textAt(item, id)) ?? "";
    const type = textAt(item, "type");
    if (type === "tool_use") inputs.set(textAt(item, "id"), textOf(at(item, "input")));
    else if (type === "function_call") inputs.set(textAt(item, "call_id"), textAt(item, "arguments"));
    else if (type === "tool_result")
      results.push({ input: inputOf("tool_use_id"), output: textOf(at(item, "content")) });
    else if (type === "function_call_output")
      results.push({ input: inputOf("call_id"), output: textOf(at(item, "output")) });
  }
  return results;
}

function itemsOf(line: unknown): readonly unknown[] {
  return [at(line, "payload"), ...listAt(line, "message", "content")];
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}
