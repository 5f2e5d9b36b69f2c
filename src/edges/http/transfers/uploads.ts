import { Refusal } from "#edges/http/guard/failures";
import { limitedChunks } from "#edges/http/guard/read-body";

interface UploadLimits {
  readonly importBytes: number;
  readonly imports: number;
  readonly bodyMs: number;
}

/** Files that clients upload: so many at a time, each up to a size. */
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

  /** Does something with the bytes of an upload. */
  async use<T>(
    stream: ReadableStream<Uint8Array> | null,
    work: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const { importBytes: bytes, imports, bodyMs: ms } = this.#limits;
    if (this.#open >= imports)
      throw new Refusal("too_many", "Too many uploads are running. Wait until one ends.", {
        headers: { "retry-after": "1" },
      });
    this.#open++;
    try {
      return await work(limitedChunks(stream ?? new Blob([]).stream(), { bytes, ms }));
    } finally {
      this.#open--;
    }
  }
}
