import type { Conversation } from "#conversation/conversation";
import type { EntryId } from "#log/ids";
import type { ContentBlock } from "#log/message";
import type { Sink } from "#edges/cli/command";
import type { Printer } from "#edges/cli/terminal/printer";

/** Whom a person talks to, and about what. */
export interface ChatSession {
  /** Another one after a fork. */
  conversation: Conversation;
  /** A person is being asked something. */
  readonly isAsking: boolean;
  /** The last turn is parked until a question is answered. */
  readonly isWaiting: boolean;
  /** Stops the running turn; false when none runs. */
  cancel(): boolean;
  send(text: string): Promise<void>;
  /** Goes on in a fork, at an entry or at the end. `how` says what becomes of the agent. */
  fork(at: EntryId | null): Promise<{
    readonly conversation: Conversation;
    readonly how: string;
    readonly editable: readonly ContentBlock[] | null;
  }>;
  /** Goes on from another entry. */
  goTo(entry: EntryId): Promise<{ readonly how: string }>;
  /** Goes back before a message of the person's. */
  goBackTo(entry: EntryId): Promise<{ readonly how: string }>;
  /** What may be said to it, and the orders it has beside those of every chat. */
  readonly help: { readonly talk: string; readonly orders: string };
  readonly orders: { readonly [name: string]: SlashCommand };
}

export interface ChatParts {
  readonly session: ChatSession;
  readonly printer: Printer;
  readonly out: Sink;
}

type SlashCommand = (chat: ChatParts, rest: string) => Promise<void> | void;
