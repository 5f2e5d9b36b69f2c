/** Makes docs/internals/test-map.md: which tests cover which folder of the sources. `node scripts/test-map.ts` writes the file. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS_MAX = 6;

const HEAD = `# Which tests cover what

Made by \`npm run docs:api\`. \`test/\` mirrors \`src/\`: a test covers the folder whose name its own folder has, and the modules that it
imports. Each line names a folder of \`src\`, the tests in the folder of the same name, and after "also" the folders of
\`test\` whose tests import a module of it (many: more than ${FOLDERS_MAX}). A folder without tests is covered from the folder above it.

\`npx vitest run test/log/plans\` runs the tests of \`src/log/plans\`. A name that ends in \`.e2e\` starts processes or servers; \`-cases\` are
run by tests of several stores or edges. \`test/simulation\`, \`test/soak\` and \`test/agents\` run whole conversations through all layers.

`;

/** Each folder of the sources with the files of its tests, and the folders whose tests import one of its modules. */
function coverage(): readonly (readonly [string, readonly string[], readonly string[]])[] {
  const tests = globSync("test/**/*.ts", { cwd: ROOT })
    .filter((file) => !file.startsWith("test/support/"))
    .map((file) => ({ folder: dirname(`src${file.slice(4)}`), file, imports: importedFolders(file) }))
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const folders = new Set(globSync("src/**/*.ts", { cwd: ROOT }).map((file) => dirname(file)));
  return [...folders].toSorted().map((folder) => {
    const named = tests.filter((test) => test.folder === folder && /\.test\.ts$|-cases\.ts$/.test(test.file));
    const importing = tests.filter((test) => test.folder !== folder && test.imports.has(folder));
    return [
      folder,
      [...new Set(named.map(({ file }) => basename(file).replace(/(?:\.test)?\.ts$/, "")))],
      [...new Set(importing.map(({ file }) => dirname(file).replace("test/", "")))],
    ];
  });
}

function importedFolders(file: string): ReadonlySet<string> {
  const paths = readFileSync(join(ROOT, file), "utf8").matchAll(/(?:from |import\()"#([^"]+)"/g);
  return new Set([...paths].map(([, path = ""]) => dirname(`src/${path}`)));
}

export function testMapPage(): string {
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
  const lines = coverage().map(([folder, named, importing]) => {
    const also = importing.length > FOLDERS_MAX ? "many" : code(importing);
    const parts = [code(named), also === "" ? "" : `also ${also}`].filter((part) => part !== "");
    return `- \`${folder}\`: ${parts.join("; ") || "from the folder above"}\n`;
  });
  return HEAD + lines.join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(ROOT, "docs/internals/test-map.md"), testMapPage());
