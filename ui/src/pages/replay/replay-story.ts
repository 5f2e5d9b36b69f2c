import type { ReplayEventView } from "#edges/http/client/views";
import { tellingArgument } from "../../text/telling-argument.ts";
import type { DiffPart } from "../diff/compared-rows.ts";

/** Where a replay parts from its original: the first other call, or the first other result of the same call. */
interface ToldDivergence {
  readonly kind: string;
  readonly sameBefore: number;
  readonly a: DiffPart | null;
  readonly b: DiffPart | null;
}

/** What came of one prompt. */
interface TurnEnd {
  readonly outcome: string;
  readonly message: string;
  readonly steps: number;
  readonly divergence: ToldDivergence | null;
  readonly textDiffers: boolean;
}

export interface StoryTurn {
  /** Of which model, by its place. */
  readonly model: number;
  readonly conversation: string;
  readonly number: number;
  /** Which message of the original its prompt is. */
  readonly message: number;
  /** Null: it is under way. */
  readonly end: TurnEnd | null;
}

/** What became of a model, as its result says. */
export interface ModelEnd {
  readonly conversation: string;
  readonly model: string;
  readonly outcome: string;
  readonly message: string;
  readonly prompts: number;
  readonly sent: number;
  readonly steps: number;
  readonly calls: number;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costMicros: number | null;
    readonly unpricedAnswers: number;
  };
  readonly missed: readonly object[];
  readonly divergence: ToldDivergence | null;
  readonly textDiffers: boolean;
}

export interface StoryModel {
  readonly model: string;
  readonly conversation: string;
  readonly end: ModelEnd | null;
}

/** All that was told of a replay until now. */
export interface ReplayStory {
  readonly models: readonly StoryModel[];
  readonly turns: readonly StoryTurn[];
  readonly progress: ReplayEventView["progress"] | null;
  /** The fork in which a call waits for a person; null: none does. */
  readonly asks: string | null;
  /** Why it waits before it asks a model again. */
  readonly pause: string | null;
}

type Told = ReplayEventView["event"] & { readonly [name: string]: unknown };

export function storyOf(told: readonly ReplayEventView[]): ReplayStory {
  const models: StoryModel[] = [];
  const turns: StoryTurn[] = [];
  const asked = new Map<string, string>();
  let pause: string | null = null;
  for (const { event } of told) {
    const one = event as Told;
    const conversation = one["conversation"] as string;
    const last = turns.length - 1;
    pause = one.type === "backing_off" ? String(one["message"]) : null;
    if (one.type === "forked") models.push({ model: String(one["model"]), conversation, end: null });
    else if (one.type === "prompt")
      turns.push({
        model: models.length - 1,
        conversation,
        number: Number(one["number"]),
        message: Number(one["messageNumber"]),
        end: null,
      });
    else if (one.type === "turn" && turns[last] !== undefined)
      turns[last] = { ...turns[last], end: one as unknown as TurnEnd };
    else if (one.type === "asked") asked.set(String(one["request"]), conversation);
    else if (one.type === "answered") asked.delete(String(one["request"]));
    else if (one.type === "ended") {
      const end = one as unknown as ModelEnd;
      const of = models.at(-1);
      if (of !== undefined) models[models.length - 1] = { ...of, end };
      asked.clear();
    }
  }
  const progress = told.at(-1)?.progress ?? null;
  return { models, turns, progress, asks: [...asked.values()][0] ?? null, pause };
}

export type TurnState = "running" | "same" | "diverged" | "stopped" | "failed";

export function turnState({ end }: Pick<StoryTurn, "end">): TurnState {
  if (end === null) return "running";
  if (end.outcome === "failed") return "failed";
  if (end.outcome !== "completed") return "stopped";
  return end.divergence === null ? "same" : "diverged";
}

/** What one side calls where they part; where it goes on with words, it calls nothing. */
function sideText(part: DiffPart | null): string {
  return part?.kind === "call" ? `${part.name} ${tellingArgument(part.input)}`.trim() : "no call";
}

function divergenceText({ kind, a, b }: ToldDivergence): string {
  if (kind === "result") return `${sideText(a)} returned a different result`;
  return `${sideText(a)} → ${sideText(b)}`;
}

export function turnText(turn: Pick<StoryTurn, "end">): string {
  const { end } = turn;
  switch (turnState(turn)) {
    case "running":
      return "running";
    case "failed":
      return `failed: ${end?.message ?? ""}`;
    case "stopped":
      return `stopped: ${end?.message ?? ""}`;
    case "diverged":
      if (end?.divergence == null) return "";
      return `${end.divergence.kind === "result" ? "" : "different calls: "}${divergenceText(end.divergence)}`;
    case "same":
      return end?.textDiffers === true ? "same calls, different text" : "the same";
  }
}

/** What a model made of it, in one line. */
export function modelText({ outcome, message, divergence, textDiffers, sent, prompts }: ModelEnd): string {
  const how =
    divergence === null
      ? textDiffers
        ? "Same calls, different text"
        : "The same"
      : `Differs from turn ${(divergence.a ?? divergence.b)?.turn ?? 1}: ${divergenceText(divergence)}`;
  if (outcome === "completed") return how;
  return `${how}, up to turn ${sent} of ${prompts}. ${message}`;
}
