import { type Call, jsonLine, remark } from "#edges/cli/command";
import { counted } from "#edges/cli/terminal/count";
import { safeLine } from "#edges/cli/terminal/terminal";
import type { RedactionHit } from "#transfer/redact/redact-entry";
import type { RedactorOptions } from "#transfer/redact/redactor";

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

  /** Every hit on standard error; for programs as one object, where the answer does not hold it already. */
  async tell(call: Call, file: string): Promise<void> {
    if (call.json) {
      if (file === "-") await call.io.err.write(jsonLine(this.value()));
      return;
    }
    for (const { kind, conversation, entry, where, preview } of this.#hits)
      await remark(call, safeLine(`taken out: ${kind} ${preview} in ${conversation}@${entry}, ${where}`));
    const count = this.#hits.length;
    const found = count === 0 ? "Nothing looked like a secret" : `${counted(count, "secret")} taken out`;
    const unread =
      this.#unread.size === 0
        ? ""
        : `; ${counted(this.#unread.size, "image or file", "images or files")} not looked into`;
    await remark(call, `${found}${unread}. Look through it before you pass it on`);
  }
}
