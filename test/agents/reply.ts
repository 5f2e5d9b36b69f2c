/** What a fake model answers, whatever the wire, and the ways an answer can go wrong. */

export interface Reply {
  /** Anything but 200 is answered as plain JSON with `body` and `headers`. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly thinking?: string;
  readonly text?: string;
  readonly command?: string;
  /** How it ends. `cut`, `error` and `hang` come after the first half of the text. */
  readonly end?: "stop" | "max_tokens" | "refusal" | "cut" | "error" | "hang";
  /** Between two pieces of text. */
  readonly pieceMs?: number;
}

/** Makes of the answer the model would have given the one that is given. */
export type Mode = (usual: Reply) => Reply;

export type ModeName =
  | "too_long"
  | "unauthorized"
  | "forbidden"
  | "rate_limit"
  | "limit_with_reset"
  | "server_error"
  | "overloaded"
  | "credit"
  | "usage_limit_reached"
  | "empty"
  | "slow"
  | "hang"
  | "cut"
  | "stream_error"
  | "max_tokens"
  | "refusal"
  | "thinking";

const SLOW_PIECE_MS = 100;

/** The modes that are the same on every wire; a wire adds its refusals. */
export const STREAM_MODES = {
  empty: () => ({}),
  slow: (usual) => ({ ...usual, pieceMs: SLOW_PIECE_MS }),
  hang: (usual) => ({ ...usual, end: "hang" }),
  cut: (usual) => ({ ...usual, end: "cut" }),
  stream_error: (usual) => ({ ...usual, end: "error" }),
  max_tokens: (usual) => ({ ...usual, end: "max_tokens" }),
  refusal: (usual) => ({ ...usual, end: "refusal" }),
  thinking: (usual) => ({ ...usual, thinking: "Let me think about that." }),
} as const satisfies Partial<Record<ModeName, Mode>>;

export type RefusalName = Exclude<ModeName, keyof typeof STREAM_MODES>;

/** Text in pieces, so that there is a first half to break off after. */
export function piecesOf(reply: Reply): readonly string[] {
  const pieces = (reply.text ?? "").match(/\S+\s*/g) ?? [];
  if (reply.end !== "cut" && reply.end !== "error" && reply.end !== "hang") return pieces;
  return pieces.slice(0, Math.ceil(pieces.length / 2));
}
