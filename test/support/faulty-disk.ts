import { dirname } from "node:path";
import type { Disk, DiskFile, DiskLock, FileStat } from "#stores/jsonl/disk/disk";

/** A change of names in a folder, lost in a power cut unless the folder was synced. */
interface NameChange {
  readonly folder: string;
  readonly set: readonly (readonly [string, Inode])[];
  readonly drop: readonly string[];
}

function apply(names: Map<string, Inode>, change: NameChange): void {
  for (const path of change.drop) names.delete(path);
  for (const [path, inode] of change.set) names.set(path, inode);
}

let inodes = 0;

/** A file as memory and as the disk know it. */
class Inode {
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

function spliced(old: Uint8Array, bytes: Uint8Array, at: number): Uint8Array {
  const next = new Uint8Array(Math.max(old.length, at + bytes.length));
  next.set(old);
  next.set(bytes, at);
  return next;
}

/**
 * A disk in memory that loses power.
 *
 * What it promises: bytes are on the disk when `sync` of their file resolved; names (made, linked, moved, removed)
 * when `syncFolder` of their folder resolved. What it does not promise, it breaks:
 *
 * - The power goes at any operation. A write, truncate or change of name has then begun, a sync has not happened.
 *   From then on every operation fails.
 * - Of the bytes a file was not synced with, any prefix survives; or the file has its new length and zeros behind
 *   that prefix; or whole pages are missing or arrived in another order than they were written in. An unsynced
 *   truncate may be undone, with or without what was written after it.
 * - Of the names not synced, any prefix of the changes survives, down to none.
 * - While the power is on, a write fails with ENOSPC after as many bytes as `spaceLeft` says, and `onOperation` can
 *   fail any operation with any error.
 *
 * What it leaves out: bytes that were synced do not rot; tests that need that change them by hand.
 */
export class FaultyDisk implements Disk {
  readonly #powerLossAt: number;
  readonly #live = new Map<string, Inode>();
  readonly #safe = new Map<string, Inode>();
  #names: readonly NameChange[] = [];
  readonly #locked = new Set<string>();
  #off: boolean = false;
  steps: number = 0;
  spaceLeft: number = Number.POSITIVE_INFINITY;
  onOperation: ((operation: Operation, path: string) => void) | null = null;

  constructor(powerLossAt: number = Number.POSITIVE_INFINITY) {
    this.#powerLossAt = powerLossAt;
  }

  get off(): boolean {
    return this.#off;
  }

  /** One step; at the chosen one the power goes, after what `begun` says has begun. */
  step(operation: Operation, path: string, begun: () => void = () => undefined): void {
    this.look(operation, path);
    const lost = this.steps++ >= this.#powerLossAt;
    if (lost) this.#off = true;
    begun();
    if (lost) throw new PowerLoss();
  }

  /** An operation that changes nothing. */
  look(operation: Operation, path: string): void {
    if (this.#off) throw new PowerLoss();
    this.onOperation?.(operation, path);
  }

  #rename(path: string, change: Omit<NameChange, "folder">): void {
    const named = { folder: dirname(path), ...change };
    apply(this.#live, named);
    this.#names = [...this.#names, named];
  }

  async stat(path: string): Promise<FileStat | null> {
    this.look("stat", path);
    return this.#live.get(path)?.stat() ?? null;
  }

  async open(path: string, mode: "read" | "write" | "create"): Promise<DiskFile> {
    this.look("open", path);
    const found = this.#live.get(path);
    if (mode === "create" && found !== undefined) throw systemError("EEXIST");
    if (mode !== "create" && found === undefined) throw systemError("ENOENT");
    const inode = found ?? new Inode();
    if (found === undefined)
      this.step("create", path, () => this.#rename(path, { set: [[path, inode]], drop: [] }));
    return new FaultyFile(this, inode, path);
  }

  async link(from: string, to: string): Promise<boolean> {
    const inode = this.#live.get(from);
    if (inode === undefined) throw systemError("ENOENT");
    if (this.#live.has(to)) return false;
    this.step("link", to, () => this.#rename(to, { set: [[to, inode]], drop: [] }));
    return true;
  }

  async rename(from: string, to: string): Promise<void> {
    const inode = this.#live.get(from);
    if (inode === undefined) throw systemError("ENOENT");
    this.step("rename", to, () => this.#rename(to, { set: [[to, inode]], drop: [from] }));
  }

  async remove(path: string): Promise<void> {
    this.step("remove", path, () => this.#rename(path, { set: [], drop: [path] }));
  }

  async removeFolder(path: string): Promise<void> {
    await this.remove(path);
  }

  async list(path: string): Promise<readonly string[]> {
    this.look("list", path);
    return [...this.#live.keys()]
      .filter((name) => dirname(name) === path)
      .map((name) => name.slice(path.length + 1));
  }

  async makeFolder(path: string): Promise<void> {
    const missing: string[] = [];
    for (let at = path; !this.#live.has(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at);
    this.step("makeFolder", path, () => {
      for (const folder of missing) this.#rename(folder, { set: [[folder, new Inode()]], drop: [] });
    });
  }

  async syncFolder(path: string): Promise<void> {
    this.step("syncFolder", path);
    for (const change of this.#names) if (change.folder === path) apply(this.#safe, change);
    this.#names = this.#names.filter((change) => change.folder !== path);
  }

  async lock(path: string): Promise<DiskLock | null> {
    this.look("lock", path);
    if (this.#locked.has(path)) return null;
    this.#locked.add(path);
    return { release: () => void this.#locked.delete(path) };
  }

  /** Every byte under a path, by name: what a thief of the disk would find. */
  files(): ReadonlyMap<string, Uint8Array> {
    return new Map([...this.#live].map(([path, inode]) => [path, inode.live]));
  }

  /** Puts bytes on the disk as if they had always been there. */
  plant(path: string, bytes: Uint8Array): void {
    const inode = this.#live.get(path) ?? new Inode();
    inode.live = bytes;
    inode.safe = bytes;
    for (let at = dirname(path); at !== dirname(at); at = dirname(at))
      this.#both(at, this.#live.get(at) ?? new Inode());
    this.#both(path, inode);
  }

  #both(path: string, inode: Inode): void {
    this.#live.set(path, inode);
    this.#safe.set(path, inode);
  }

  /** A disk that keeps nothing in doubt: as after a clean shutdown, or a copy. */
  copy(powerLossAt?: number): FaultyDisk {
    return this.#reboot(this.#names.length, (inode) => inode.live, powerLossAt);
  }

  /**
   * Every disk that may be found when the power comes back, each once. With a stride, of the unsynced bytes every prefix near
   * either end of them and, between, one of so many.
   */
  *outcomes(stride: number = 1): Generator<{ readonly name: string; readonly disk: FaultyDisk }> {
    const all = this.#names.length;
    for (let names = 0; names < all; names++) {
      yield { name: `${names} of ${all} names, no bytes`, disk: this.#reboot(names, (inode) => inode.safe) };
      yield { name: `${names} of ${all} names, all bytes`, disk: this.#reboot(names, (inode) => inode.live) };
    }
    const dirty = [...new Set([...this.#live.values(), ...this.#safe.values()])].map(
      (inode) => inode.live.length - inode.same(),
    );
    const most = Math.max(0, ...dirty);
    yield { name: "nothing unsynced", disk: this.#reboot(all, (inode) => inode.safe) };
    yield { name: "no truncate, but the writes", disk: this.#reboot(all, (inode) => inode.untruncated()) };
    for (let kept = 0; kept <= most; kept++) {
      if (kept % stride !== 0 && Math.min(kept, most - kept) > NEAR_BYTES) continue;
      yield {
        name: `${kept} unsynced bytes`,
        disk: this.#reboot(all, (inode) => inode.live.slice(0, inode.same() + kept)),
      };
    }
    for (let kept = 0; kept < most; kept += ZERO_STEP_BYTES) {
      const keeps = (_: number, nth: number): boolean => nth < kept;
      yield {
        name: `${kept} unsynced bytes, then zeros`,
        disk: this.#reboot(all, (inode) => inode.patched(keeps)),
      };
    }
    const pages = Math.ceil(most / PAGE_BYTES) + 1;
    for (const [name, keepsPage] of pageChoices(pages)) {
      const keeps = (at: number, nth: number): boolean =>
        keepsPage(Math.floor(at / PAGE_BYTES) - Math.floor((at - nth) / PAGE_BYTES));
      yield { name, disk: this.#reboot(all, (inode) => inode.patched(keeps)) };
    }
  }

  #reboot(names: number, bytesOf: (inode: Inode) => Uint8Array, powerLossAt?: number): FaultyDisk {
    const next = new FaultyDisk(powerLossAt);
    const found = new Map(this.#safe);
    for (const change of this.#names.slice(0, names)) apply(found, change);
    const copies = new Map<Inode, Inode>();
    for (const [path, inode] of found) {
      const bytes = bytesOf(inode).slice();
      const copied = copies.get(inode) ?? new Inode(bytes);
      copies.set(inode, copied);
      next.#both(path, copied);
    }
    return next;
  }
}

export type Operation =
  | "stat"
  | "open"
  | "read"
  | "create"
  | "link"
  | "rename"
  | "remove"
  | "list"
  | "makeFolder"
  | "syncFolder"
  | "lock"
  | "write"
  | "truncate"
  | "sync";

/** The machine is off: nobody is there to catch it. */
export class PowerLoss extends Error {
  constructor() {
    super("the power is gone");
    this.name = "PowerLoss";
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const PAGE_BYTES = 128; // far below a real page, so that a small batch has many
const NEAR_BYTES = 12;
const ZERO_STEP_BYTES = 32;

function* pageChoices(pages: number): Generator<[string, (page: number) => boolean]> {
  for (let one = 0; one < pages; one++) {
    yield [`all unsynced pages but ${one}`, (page) => page !== one];
    yield [`unsynced page ${one} alone`, (page) => page === one];
  }
  yield ["even unsynced pages", (page) => page % 2 === 0];
  yield ["odd unsynced pages", (page) => page % 2 === 1];
  yield ["the later half of the unsynced pages", (page) => page >= pages / 2];
}

class FaultyFile implements DiskFile {
  readonly #disk: FaultyDisk;
  readonly #inode: Inode;
  readonly #path: string;

  constructor(disk: FaultyDisk, inode: Inode, path: string) {
    this.#disk = disk;
    this.#inode = inode;
    this.#path = path;
  }

  async stat(): Promise<FileStat> {
    this.#disk.look("stat", this.#path);
    return this.#inode.stat();
  }

  async read(at: number, length: number): Promise<Uint8Array> {
    this.#disk.look("read", this.#path);
    return this.#inode.live.slice(at, at + length);
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    const fits = Math.min(bytes.length, this.#disk.spaceLeft);
    this.#disk.step("write", this.#path, () => {
      this.#disk.spaceLeft -= fits;
      this.#inode.live = spliced(this.#inode.live, bytes.subarray(0, fits), at);
    });
    if (fits < bytes.length) throw systemError("ENOSPC");
  }

  async truncate(size: number): Promise<void> {
    this.#disk.step("truncate", this.#path, () => (this.#inode.live = this.#inode.live.slice(0, size)));
  }

  async sync(): Promise<void> {
    this.#disk.step("sync", this.#path);
    this.#inode.safe = this.#inode.live;
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
