import { Refusal } from "#edges/http/guard/failures";
import { limitedChunks } from "#edges/http/guard/read-body";
import { type SpooledFile, spooledFile } from "#transfer/bundles/open-import";

interface UploadLimits {
  readonly importBytes: number;
  readonly imports: number;
  readonly bodyMs: number;
}

/** Files that are uploaded: set down whole before anything is made of them, so many at a time. */
export class Uploads {
  readonly #limits: UploadLimits;
  #open = 0;

  constructor(limits: UploadLimits) {
    this.#limits = limits;
  }

  /** Of one file. */
  get bytesMax(): number {
    return this.#limits.importBytes;
  }

  /** Does something with an upload, which is gone afterwards. */
  async use<T>(
    stream: ReadableStream<Uint8Array> | null,
    work: (spooled: SpooledFile) => Promise<T>,
  ): Promise<T> {
    const { importBytes: bytes, imports, bodyMs: ms } = this.#limits;
    if (this.#open >= imports)
      throw new Refusal("too_many", "Too many files are uploaded at the same time", {
        headers: { "retry-after": "1" },
      });
    this.#open++;
    try {
      const chunks = limitedChunks(stream ?? new Blob([]).stream(), { bytes, ms });
      await using spooled = await spooledFile("the file", chunks);
      return await work(spooled);
    } finally {
      this.#open--;
    }
  }
}
