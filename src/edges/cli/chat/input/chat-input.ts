import type { Io } from "#edges/cli/command";
import { KeyboardInput } from "./keyboard-input.ts";
import { StreamInput } from "./stream-input.ts";

export interface TypedLine {
  readonly text: string;
  /** Nobody has seen it where it takes its effect: it was typed ahead, or comes from a pipe. */
  readonly isUnseen: boolean;
}

/** What came of a question: an answer, nothing (it stays open), or words that are none, where nobody can be asked again. */
export type Answered = { readonly text: string } | "left" | "nobody";

/** Where a chat's lines come from. */
export interface ChatInput {
  /** Asks for the next line; null when there are no more. */
  next(): Promise<TypedLine | null>;
  /** Asks for an answer to what was printed. */
  answer(prompt: string, isAnswer: (text: string) => boolean, signal: AbortSignal): Promise<Answered>;
  /** Lines of before, oldest first. */
  remember(lines: readonly string[]): void;
  /** Nothing more is asked for; says which lines nobody got. */
  close(): readonly string[];
}

export interface InputListener {
  /** Takes a line that does not wait its turn. */
  first(line: string): boolean;
  /** A line was typed while none was asked for; it waits. */
  ahead(line: string): void;
  /** A line that waited is not sent after all; it is had again as an earlier line. */
  unsent(line: string): void;
  /** Ctrl-C at the keyboard; true when the chat goes on and a line is to be asked for again. `had`: a line was half typed, and is gone. */
  interrupt(had: boolean): boolean;
}

export function chatInput(io: Io, listener: InputListener): ChatInput {
  return io.keyboard === undefined
    ? new StreamInput(io, listener)
    : new KeyboardInput(io, io.keyboard, listener);
}
