import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

const FRAME_HEADER_BYTES = 24;
const LOG_HEADER_BYTES = 32;
const STEP_BYTES = 1_048_576;
const AHEAD_BYTES = 262_144; // some thirty turns
const ROOM_FROM_BYTES = 262_144; // who writes little and goes needs none

/**
 * Keeps room at the end of the write-ahead log. A sync of bytes written over others costs a journalling file system half
 * of one that also makes the file longer, and someone waits for it; the zeros are written while nobody does. To SQLite
 * they are the end of the log, like the old frames left there by every checkpoint.
 */
export class LogRoom implements Disposable {
  readonly #file: number;
  readonly #frameBytes: number;
  readonly #bytesMax: number;
  #refused: boolean = false;

  constructor(given: { readonly path: string; readonly pageBytes: number; readonly framesMax: number }) {
    // Opened once, for as long as the connection: by its name it might later be another store's.
    this.#file = openSync(`${given.path}-wal`, "r+");
    this.#frameBytes = given.pageBytes + FRAME_HEADER_BYTES;
    this.#bytesMax = given.framesMax * this.#frameBytes;
  }

  isShort(frames: number): boolean {
    const used = LOG_HEADER_BYTES + frames * this.#frameBytes;
    if (this.#refused || used < ROOM_FROM_BYTES) return false;
    // Asked each time: an erase or another process may have cut the log short, or made room.
    const { size } = fstatSync(this.#file);
    return used + AHEAD_BYTES > size && size < this.#bytesMax;
  }

  /** Only for who holds the write lock: nobody else may be writing frames where the file ends. */
  grow(): void {
    const { size } = fstatSync(this.#file);
    try {
      // A disk that has room for a part takes the part and says nothing more.
      const written = writeSync(this.#file, Buffer.alloc(STEP_BYTES), 0, STEP_BYTES, size);
      if (written < STEP_BYTES) throw new Error("There is no room for a longer log");
      fdatasyncSync(this.#file);
    } catch (error) {
      // Not asked again for what could not be had: on a full disk the little there is left is for entries.
      this.#refused = true;
      ftruncateSync(this.#file, size);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
