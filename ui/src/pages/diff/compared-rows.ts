import type { DiffView } from "#edges/http/client/views";

/** What one side did or said, as `GET /api/diff` tells it. */
export type DiffPart =
  | {
      readonly kind: "prompt" | "text";
      readonly entry: string;
      readonly turn: number;
      readonly text: string;
    }
  | {
      readonly kind: "call";
      readonly entry: string;
      readonly turn: number;
      readonly call: string;
      readonly name: string;
      readonly input: unknown;
      readonly result: { readonly text: string; readonly isError: boolean } | null;
    };

export type CallPart = Extract<DiffPart, { kind: "call" }>;

interface MemberChange {
  readonly path: readonly (string | number)[];
  readonly a?: unknown;
  readonly b?: unknown;
}

export interface DiffChange {
  readonly op: "same" | "changed" | "removed" | "added";
  readonly kind: DiffPart["kind"];
  readonly a?: DiffPart;
  readonly b?: DiffPart;
  readonly members?: readonly MemberChange[];
  readonly moved?: true;
  readonly resultDiffers?: true;
}

export interface SideTotals {
  readonly turns: number;
  readonly calls: number;
  readonly tools: { readonly [name: string]: number };
  readonly models: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number | null;
  readonly unpricedAnswers: number;
  readonly wallMs: number;
}

interface ComparedSide {
  readonly address: string;
  readonly conversation: string;
  readonly entry: string | null;
  readonly totals: SideTotals;
}

/** Two branches, compared. */
export interface Compared {
  readonly same: boolean;
  readonly a: ComparedSide;
  readonly b: ComparedSide;
  readonly common: {
    readonly kind: "ancestor" | "copy" | "seeds" | "starts";
    readonly a: string | null;
    readonly b: string | null;
  };
  readonly divergence: {
    readonly kind: DiffPart["kind"] | "result";
    readonly sameBefore: number;
    readonly a: DiffPart | null;
    readonly b: DiffPart | null;
  } | null;
  readonly changes: readonly DiffChange[];
}

export const comparedOf = (view: DiffView): Compared => view as DiffView & Compared;

/** One line of the comparison: `fork` is where they part; what comes before it stands in one column. */
export type ComparedRow =
  | { readonly kind: "fork" }
  | { readonly kind: "turn" | "call" | "text"; readonly change: DiffChange; readonly isBefore: boolean };

export const differs = (row: ComparedRow): boolean =>
  row.kind === "fork" ||
  (!row.isBefore && row.kind !== "text" && (row.change.op !== "same" || row.change.resultDiffers === true));

const isPart = (one: DiffPart | undefined, other: DiffPart | null): boolean =>
  one === undefined
    ? other === null
    : one.entry === other?.entry &&
      one.kind === other.kind &&
      (one.kind !== "call" || other.kind !== "call" || one.call === other.call);

/** Where the change stands at which they part; -1: nowhere. */
function placeOfDivergence({ divergence, changes }: Compared): number {
  if (divergence === null) return -1;
  return changes.findIndex(
    ({ op, a, b, resultDiffers }) =>
      (op !== "same" || resultDiffers === true) &&
      (a === undefined || isPart(a, divergence.a)) &&
      (b === undefined || isPart(b, divergence.b)),
  );
}

/** The rows that are shown: of what was said, unless all of it is wanted, only what is other. */
export function comparedRows(compared: Compared, hasAll: boolean): readonly ComparedRow[] {
  const parting = placeOfDivergence(compared);
  const rows: ComparedRow[] = [];
  for (const [at, change] of compared.changes.entries()) {
    if (at === parting) rows.push({ kind: "fork" });
    if (change.kind === "text" && change.op === "same" && !hasAll) continue;
    const kind = change.kind === "prompt" ? "turn" : change.kind;
    rows.push({ kind, change, isBefore: parting === -1 || at < parting });
  }
  return rows;
}
