import type { Entry, EntryType } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { CHAIN_TYPES, type ChainEntry, ChainReader } from "./chain.ts";
import { linkRecords } from "./link-records.ts";

/** Which sessions are meant: an absent member matches all; an account of null matches sessions without a named account. */
export interface SignedIn {
  readonly agent?: string;
  readonly account?: string | null;
}

/** Whether a session is one of those that are meant. */
export function isTheirs(
  link: { readonly agent: string; readonly account?: string | null },
  who: SignedIn,
): boolean {
  const account = link.account ?? null;
  return (who.agent ?? link.agent) === link.agent && (who.account === undefined || who.account === account);
}

/** The upstream ids of an account that could still be resumed, from a conversation's links and ends. */
export function resumableIds(facts: Iterable<Entry>, who: SignedIn): readonly string[] {
  const theirs = linkRecords(facts).filter((record) => record.retired === null && isTheirs(record, who));
  return theirs.map(({ upstream }) => upstream);
}

/** The entries that tell under which account something was said. */
export const ACCOUNT_TYPES: readonly EntryType[] = [...CHAIN_TYPES, "reset"];

/** Finds messages that were sent under an account since a reset; in a fork, the inherited ones come first. */
export class AccountReader {
  readonly #who: SignedIn;
  readonly #reset: EntryId | null;
  readonly #chain = new ChainReader();
  readonly #messages = new Set<EntryId>();
  /** A session of theirs holds a node since the reset that it did not carry: it was adopted, or forked. */
  #holds: boolean = false;

  /** `reset`: the last one on the path; null where there is none. */
  constructor(who: SignedIn, reset: EntryId | null) {
    this.#who = who;
    this.#reset = reset;
  }

  add(entry: ChainEntry, source: ConversationId | null): void {
    this.#chain.add(entry, source);
    if (entry.type === "message") this.#messages.add(entry.id);
    else if (entry.id === this.#reset) {
      this.#messages.clear();
      this.#holds = false;
    } else if (entry.type === "upstream_link" && entry.node !== undefined && isTheirs(entry, this.#who))
      this.#holds ||= this.#messages.has(entry.node);
  }

  /** Whether a message that may still be sent to a model came under the account. */
  get found(): boolean {
    if (this.#holds) return true;
    const carriers = [...this.#chain.carriers()];
    return carriers.some(
      ([id, links]) => this.#messages.has(id) && links.some((link) => isTheirs(link, this.#who)),
    );
  }
}
