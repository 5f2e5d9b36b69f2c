import type { ContentBlock } from "#log/message";

/**
 * What was made of each block for the request before, for as long as the block is held: every step sends all that was said, and
 * only the end of it is new. `way`: all that the parts depend on beside the block.
 */
export class PartsOfBlocks<P> {
  readonly #made = new WeakMap<ContentBlock, { readonly way: string; readonly parts: readonly P[] }>();

  of(block: ContentBlock, way: string, make: () => readonly P[]): readonly P[] {
    const before = this.#made.get(block);
    if (before?.way === way) return before.parts;
    const parts = make();
    this.#made.set(block, { way, parts });
    return parts;
  }
}
