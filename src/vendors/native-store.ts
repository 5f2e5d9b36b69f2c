import type { NativeMessage } from "#upstream/upstream";
import type { Message } from "#log/message";

export interface NativeSession {
  readonly id: string;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly updatedAt: string;
}

/** The input of a new transcript. */
export interface NewTranscript {
  readonly cwd: string;
  readonly messages: readonly Message[];
  readonly newId: () => string;
  readonly nowMs: number;
}

export type Moved = "moved" | "there" | "missing";

/** An agent's own records of its sessions, outside of the protocol. */
export interface NativeStore {
  /** Newest first; unreadable files are skipped. */
  list(): Promise<readonly NativeSession[]>;
  /**
   * The messages that the agent will take up when it resumes the session, in order; null when there is no such
   * transcript or it holds no message. What a compaction summed up is given in full, the summary is not: nobody said it.
   */
  read(id: string): Promise<readonly NativeMessage[] | null>;
  /** Changes whenever the transcript does; null when there is none. Only a stat once the file is found. */
  stamp(id: string): Promise<string | null>;
  /** Writes a transcript that the agent can resume; gives its new id. Only where the format is known. */
  write?(transcript: NewTranscript): Promise<string>;
  /** Deletes a session's transcript; nothing when there is none. */
  remove?(id: string): Promise<void>;
  /** Moves the transcript of a session from one folder to another. */
  move?(id: string, to: string): Promise<Moved>;
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids become file names, and they come from outside: nothing but a UUID passes. */
export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}
