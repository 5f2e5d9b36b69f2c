import type { FileStat } from "#stores/jsonl/index";

/** A change of names in a folder, lost in a power cut unless the folder was synced. */
export interface NameChange {
  readonly folder: string;
  readonly set: readonly (readonly [string, Inode])[];
  readonly drop: readonly string[];
}

export function apply(names: Map<string, Inode>, change: NameChange): void {
  for (const path of change.drop) names.delete(path);
  for (const [path, inode] of change.set) names.set(path, inode);
}

let inodes = 0;

/** A file as memory and as the disk know it. */
export class Inode {
  readonly #identity: string = `inode ${++inodes}`;
  live: Uint8Array;
  safe: Uint8Array;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.live = bytes;
    this.safe = bytes;
  }

  stat(): FileStat {
    return { identity: this.#identity, size: this.live.length, modifiedMs: 0 };
  }

  /** How many bytes from the start on are the same in memory and on the disk. */
  same(): number {
    let at = 0;
    while (at < this.live.length && at < this.safe.length && this.live[at] === this.safe[at]) at++;
    return at;
  }

  /** What was written, and behind it what a truncate took off. */
  untruncated(): Uint8Array {
    return spliced(this.safe, this.live, 0);
  }

  /** The new length, with only some of the unsynced bytes: elsewhere stands what was there before, or zero. */
  patched(keeps: (at: number, nth: number) => boolean): Uint8Array {
    const same = this.same();
    return this.live.map((byte, at) => (at < same || keeps(at, at - same) ? byte : (this.safe[at] ?? 0)));
  }
}

export function spliced(old: Uint8Array, bytes: Uint8Array, at: number): Uint8Array {
  const next = new Uint8Array(Math.max(old.length, at + bytes.length));
  next.set(old);
  next.set(bytes, at);
  return next;
}
