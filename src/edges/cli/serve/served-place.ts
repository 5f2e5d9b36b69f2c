import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ServedPlace } from "#edges/http/http-options";
import { redactAddress } from "#stores/redact-address";

/** Where the store of an address lies, and how much room it takes, where that is a file or a folder. */
export function servedPlace(address: string): ServedPlace {
  const [, kind, place = ""] = /^(sqlite|jsonl):(.+)$/s.exec(address) ?? [];
  if (kind === undefined) return { address: redactAddress(address) };
  const path = resolve(place);
  const files = async (): Promise<readonly string[]> =>
    kind === "sqlite"
      ? [path, `${path}-wal`, `${path}-shm`]
      : (await readdir(path, { recursive: true })).map((name) => join(path, name));
  return {
    address: `${kind}:${path}`,
    bytes: async () => {
      let bytes = 0;
      for (const file of await files().catch(() => [])) {
        const found = await stat(file).catch(() => null); // one that went in the meantime takes none
        if (found?.isFile() === true) bytes += found.size;
      }
      return bytes;
    },
  };
}
