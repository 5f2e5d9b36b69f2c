import type { RedactionHit } from "./redact-entry.ts";
import type { RedactorOptions } from "./redactor.ts";

/** What was taken out of an export, for whoever is to look at it before it is passed on. */
export class Review {
  readonly #hits: RedactionHit[] = [];
  readonly #unread: Set<string> = new Set();
  readonly options: Pick<RedactorOptions, "onHit" | "onUnread"> = {
    onHit: (hit) => void this.#hits.push(hit),
    onUnread: (digest) => void this.#unread.add(digest),
  };

  value(): { readonly redactions: readonly RedactionHit[]; readonly unread: readonly string[] } {
    return { redactions: this.#hits, unread: [...this.#unread] };
  }
}
