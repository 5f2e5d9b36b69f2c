import type { ReplayedTurn, ReplayEvent, ReplayPlan, ReplayResult } from "#agent/replay/replay-options";
import type { Holdfast } from "#conversation/holdfast";
import { type Call, jsonLine, type Sink } from "#edges/cli/command";
import { divergenceText } from "./diff-table.ts";
import { replayEventJson } from "#transfer/views/diff-json";
import { tableLines } from "./diff-table.ts";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { jsonPreview } from "#transfer/views/entry-preview";

/** An event for scripts. */
export function eventJson(event: ReplayEvent): string {
  return jsonLine(replayEventJson(event));
}

/** The same for people; null: nothing is to be said of it. */
export function eventLine(event: ReplayEvent, prompts: number, { style }: Sink): string | null {
  switch (event.type) {
    case "planned":
      return plannedLines(event).join("\n");
    case "forked":
      return style.bold(safeLine(`${event.model} → ${event.conversation}`));
    case "missed":
      return safeLine(`  ⚡ not in the record: ${event.name} ${jsonPreview(event.input)}`);
    case "backing_off":
      return safeLine(`  ${event.message}; asked again in ${Math.ceil(event.delayMs / 1_000)} s`);
    case "turn":
      return turnLine(event, prompts, style);
    case "ended":
      return event.outcome === "completed" ? null : style.red(safeLine(`  ✗ ${endText(event)}`));
    default:
      return null;
  }
}

function plannedLines({ source, prompts, tools, absent, added, models }: ReplayPlan): readonly string[] {
  const of = source.run === null ? source.conversation : `run ${source.run} of ${source.conversation}`;
  const list = (names: readonly string[]): string => names.join(", ");
  return [
    `${counted(prompts, "prompt")} of ${of} · ${counted(models.length, "model")} · tools: ${tools}`,
    ...(absent.length === 0 ? [] : [`⚡ Tools of the original that are not here: ${list(absent)}`]),
    ...(added.length === 0 ? [] : [`⚡ Tools that the original did not have: ${list(added)}`]),
  ].map(safeLine);
}

function turnLine(turn: ReplayedTurn, prompts: number, style: Sink["style"]): string {
  const { number, divergence, textDiffers, steps } = turn;
  const place = `  prompt ${number}/${prompts} · ${counted(steps, "step")} · `;
  // A prompt is compared by itself, so there is one turn.
  if (divergence !== null)
    return `${place}${style.red(safeLine(`✗ ${divergenceText(divergence).replace(/^turn [^:]*: /, "")}`))}`;
  return `${place}${style.green(textDiffers ? "✓ the same calls, other words" : "✓ the same")}`;
}

function endText({ outcome, class: known, message, sent, prompts }: ReplayResult): string {
  const why = message === "" ? (known ?? outcome) : message;
  return `ended after ${sent} of ${counted(prompts, "prompt")}: ${why}`;
}

/** The original and every replay in one table, and how to look further. */
export async function writeSummary(
  call: Call,
  holdfast: Holdfast,
  { source }: Pick<ReplayPlan, "source">,
  results: readonly ReplayResult[],
): Promise<void> {
  if (results.length === 0) return;
  const { out } = call.io;
  const original = { conversation: source.conversation, at: source.entry };
  const diffs = await holdfast.compare(original, results);
  const a = {
    letter: "A",
    address: source.conversation,
    conversation: source.conversation,
    entry: source.entry,
  };
  const named = results.flatMap(({ conversation }, at) => {
    const letter = String.fromCodePoint(66 + at);
    const diff = diffs[at];
    return diff === undefined
      ? []
      : [{ a, b: { letter, address: conversation, conversation, entry: null }, diff }];
  });
  const forks = results.map(({ conversation }) => safeLine(conversation)).join(" ");
  const lines = [
    ...tableLines(named, out),
    `→ holdfast diff ${safeLine(source.conversation)}@${safeLine(source.entry)} ${forks}`,
  ];
  await out.write(`${lines.map((line) => line.trimEnd()).join("\n")}\n`);
}
