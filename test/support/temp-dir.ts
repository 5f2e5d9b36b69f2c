import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Tests kill processes, not machines: what is synced there is as safe from that, and no disk is waited for. Whatever loses
// power in tests is played by test/support.
const IN_MEMORY = "/dev/shm";
const BYTES_MIN = 2_000_000_000;

/** Where folders are that need not be on a disk. */
export const MEMORY_OR_DISK: string = hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();

/** A folder that is gone when the test is over: in memory where there is room, unless it is to be on a disk. */
export function tempDir(where: "anywhere" | "disk" = "anywhere"): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(where === "disk" ? tmpdir() : MEMORY_OR_DISK, "holdfast-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > BYTES_MIN;
  } catch {
    return false;
  }
}
