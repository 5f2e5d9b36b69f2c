import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const ID = "00000000-0000-4000-8000-00000000000a";

export interface Home extends Disposable {
  readonly dir: string;
  readonly put: (path: string, text: string) => string;
}

/** A folder of its own for what an agent would keep. */
export function aHome(): Home {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-native-")));
  return {
    dir,
    put: (path, text) => {
      const full = join(dir, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** A transcript that a real agent wrote, with its folders renamed and bulky records cut down. */
export function fixture(name: string): string {
  const [vendor = "", file = ""] = name.split("/");
  return readFileSync(join(import.meta.dirname, vendor, "fixtures", file), "utf8");
}

/** Ids that count up, shaped like UUIDs. */
export function countedIds(): () => string {
  let n = 0;
  return () => `00000000-0000-4000-8000-${(++n).toString(16).padStart(12, "0")}`;
}
