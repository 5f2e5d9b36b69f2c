import type { Conversation } from "#conversation/conversation";
import { idForKey } from "#conversation/id-for-key";
import { possibleBlobs, withBlobNames } from "#log/blob-names";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { parseEntryId } from "#log/ids";
import { hash } from "node:crypto";
import { changedEntry } from "./bundles/inherited-entries.ts";
import { blobOf } from "./bundles/export-lines.ts";
import { redactPayload, type RedactionHit, type RedactOptions, redactText } from "./redact-text.ts";

export interface RedactorOptions extends RedactOptions {
  /** Something was taken out: each is told, for review. */
  readonly onHit: (hit: RedactionHit) => void;
  /** A blob that is no text: what it shows is not looked at. */
  readonly onUnread: (digest: string) => void;
}

type BlobSource = Pick<Conversation, "getBlob">;

/** Removes what looks like a secret from exported entries and from blobs that are text. */
export class Redactor {
  readonly #options: RedactorOptions;
  /** What a blob is called once it is redacted; its own name where nothing was found. */
  readonly #renamed: Map<string, string> = new Map();
  readonly #originals: Map<string, string> = new Map();

  constructor(options: RedactorOptions) {
    this.#options = options;
  }

  /** The entry as it is written; `quiet` where it was told before. */
  async entry(conversation: Conversation, entry: StoredEntry, quiet: boolean = false): Promise<StoredEntry> {
    const { hits, payload } = redactPayload(conversation.id, entry, this.#options);
    if (!quiet) for (const hit of hits) this.#options.onHit(hit);
    const names = new Map<string, string>();
    for (const digest of new Set(possibleBlobs(payload)))
      names.set(digest, this.#renamed.get(digest) ?? (await this.#look(conversation, entry, digest)));
    return changedEntry(entry, { payload: withBlobNames(payload, names) });
  }

  /** What a line about a conversation says besides its entries. */
  text(text: string): string {
    return redactText(text, this.#options).text;
  }

  /** The blobs under the names that redacted entries call them by. */
  blobs(conversation: Conversation): BlobSource {
    return {
      getBlob: async (digest) => {
        const original = this.#originals.get(digest);
        if (original === undefined) return conversation.getBlob(digest);
        const text = textOf(await conversation.getBlob(original)) ?? "";
        return Buffer.from(redactText(text, this.#options, original).text);
      },
    };
  }

  /** The last word of a redacted log: whoever has it knows that it is not what was said. */
  mark({ id }: Conversation, { headSeq, updatedAt }: { headSeq: number; updatedAt: string }): StoredEntry {
    return {
      v: FORMAT_VERSION,
      id: parseEntryId(idForKey("redacted", id, String(headSeq))),
      seq: 0,
      parentId: null,
      time: updatedAt,
      type: "metadata",
      payload: JSON.stringify({ metadata: { redacted: true } }),
    };
  }

  async #look(conversation: Conversation, entry: StoredEntry, digest: string): Promise<string> {
    const bytes = await blobOf(conversation, digest);
    if (bytes === null) return digest; // only looks like one, or is not there
    const text = textOf(bytes);
    if (text === null) this.#options.onUnread(digest);
    const { hits, text: redacted } = redactText(text ?? "", this.#options, digest);
    const name = hits.length === 0 ? digest : hash("sha256", redacted);
    this.#renamed.set(digest, name);
    if (name !== digest) this.#originals.set(name, digest);
    const { id, seq, type } = entry;
    for (const hit of hits)
      this.#options.onHit({
        conversation: conversation.id,
        entry: id,
        seq,
        type,
        where: `blob ${digest}`,
        ...hit,
      });
    return name;
  }
}

/** The text that bytes are; null where they are something else. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Collects the redactions of an export for review. */
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
