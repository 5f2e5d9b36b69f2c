/** What a fake model answers, whatever the wire, and the ways an answer can go wrong. */
import type { Counted } from "./prompt-cache.ts";

export interface Reply {
  /** Anything but 200 is answered as plain JSON with `body` and `headers`. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly thinking?: string;
  readonly text?: string;
  readonly command?: string;
  /** More calls of the same answer. */
  readonly moreCommands?: readonly string[];
  /** The call itself asks to be let out of the sandbox: without this Codex runs what it may, unasked. */
  readonly asking?: boolean;
  /** How it ends. `cut`, `error` and `hang` come after the first half of the text. */
  readonly end?: "stop" | "max_tokens" | "refusal" | "cut" | "error" | "hang";
  /** Between two pieces of text. */
  readonly pieceMs?: number;
  /** What was read for it. */
  readonly counted?: Counted;
}

/** Makes of the answer the model would have given the one that is given. */
export type Mode = (usual: Reply) => Reply;

/** The ways a stream can go; the same on every wire. */
export type StreamName =
  | "empty"
  | "slow"
  | "hang"
  | "cut"
  | "stream_error"
  | "max_tokens"
  | "refusal"
  | "thinking";

/** The answers that are no stream; each wire has its own words for them. */
export type RefusalName =
  | "too_long"
  | "unauthorized"
  | "forbidden"
  | "rate_limit"
  | "limit_with_reset"
  | "server_error"
  | "overloaded"
  | "credit"
  | "usage_limit_reached";

export type ModeName = StreamName | RefusalName;

const SLOW_PIECE_MS = 100;

export const STREAM_MODES: Readonly<Record<StreamName, Mode>> = {
  empty: () => ({}),
  slow: (usual) => ({ ...usual, pieceMs: SLOW_PIECE_MS }),
  hang: (usual) => ({ ...usual, end: "hang" }),
  cut: (usual) => ({ ...usual, end: "cut" }),
  stream_error: (usual) => ({ ...usual, end: "error" }),
  max_tokens: (usual) => ({ ...usual, end: "max_tokens" }),
  refusal: (usual) => ({ ...usual, end: "refusal" }),
  thinking: (usual) => ({ ...usual, thinking: "Let me think about that." }),
};

/** The commands of an answer, one call each. */
export function commandsOf({ command, moreCommands = [] }: Reply): readonly string[] {
  return command === undefined ? [] : [command, ...moreCommands];
}

/** Text in pieces, so that there is a first half to break off after. */
export function piecesOf(reply: Reply): readonly string[] {
  const pieces = (reply.text ?? "").match(/\S+\s*/g) ?? [];
  if (reply.end !== "cut" && reply.end !== "error" && reply.end !== "hang") return pieces;
  return pieces.slice(0, Math.ceil(pieces.length / 2));
}
