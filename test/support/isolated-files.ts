import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
// The folder, the environment, timers and prototypes belong to the whole process.
const CHANGES_PROCESS =
  /process\.chdir\(|process\.env\[[^\]]+\] = |delete process\.env|vi\.stubEnv\(|vi\.useFakeTimers\(|spyOn\((?:crypto\b|\w+\.prototype)/;
// They put other modules in the place of ours.
const MOCKS_MODULES = /vi\.(?:do)?[mM]ock\(/;

/** The test files that change what other files of the same process would see, by themselves or through what they import. */
export function isolatedFiles(): readonly string[] {
  const changes = new Map<string, boolean>();
  const changesProcess = (file: string): boolean => {
    const known = changes.get(file);
    if (known !== undefined) return known;
    changes.set(file, false); // ends cycles
    const text = readFileSync(join(ROOT, file), "utf8");
    const imports = [...text.matchAll(/from "(\.{1,2}\/[^"]+\.ts)"/g)].map(([, path = ""]) =>
      normalize(join(dirname(file), path)),
    );
    const result =
      CHANGES_PROCESS.test(text) ||
      MOCKS_MODULES.test(text) ||
      imports.some(
        (path) => path.startsWith("test/") && existsSync(join(ROOT, path)) && changesProcess(path),
      );
    changes.set(file, result);
    return result;
  };
  return globSync("test/**/*.test.ts", { cwd: ROOT })
    .filter((file) => changesProcess(file))
    .toSorted();
}
