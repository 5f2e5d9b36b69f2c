/**
 * Makes the pages of docs/reference/api from the declarations that the compiler writes: every name that an entry point exports, with its
 * comment in the source. `node scripts/api-docs.ts` writes the files.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DECLARES =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|function|const|type) ([A-Za-z_$][\w$]*)/;
const STARTS = /^(?:export|declare|interface|type|import|class|function|const|\/\*\*)/;

interface Declaration {
  readonly name: string;
  readonly about: string;
  readonly code: string;
}

/** The declarations of a file, in order: the compiler starts each at the beginning of a line. */
export function declarationsIn(text: string): readonly Declaration[] {
  const found: Declaration[] = [];
  let about = "";
  let lines: string[] = [];
  const close = (): void => {
    const [, name] = DECLARES.exec(lines[0] ?? "") ?? [];
    if (name !== undefined) found.push({ name, about, code: lines.join("\n") });
    if (lines.length > 0) about = "";
    lines = [];
  };
  let comment: string[] | null = null;
  for (const line of text.split("\n")) {
    if (comment === null && STARTS.test(line)) close();
    if (comment === null && line.startsWith("/**")) comment = [];
    if (comment !== null) {
      comment.push(line);
      if (!line.endsWith("*/")) continue;
      about = aboutOf(comment.join("\n"));
      comment = null;
    } else if (line !== "") lines.push(line);
  }
  close();
  return found;
}

function aboutOf(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
}

/** Where an import leads: a neighbour by its path, a file elsewhere as `#log/entry`, counted from the top. */
function declaredIn(file: string, from: string, top: string): string {
  return from.startsWith("#")
    ? join(top, `${from.slice(1)}.d.ts`)
    : normalize(join(dirname(file), from.replace(/\.[jt]s$/, ".d.ts")));
}

/** The names an entry file exports, and the file each comes from. */
function exportsOf(file: string, top: string): readonly { readonly name: string; readonly from: string }[] {
  const text = readFileSync(file, "utf8");
  const listed = [...text.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/gs)].flatMap(
    ([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => name.trim().replace(/^type /, ""))
        .filter(Boolean)
        .map((name) => ({ name, from: declaredIn(file, from, top) })),
  );
  const own = declarationsIn(text)
    .filter(({ code }) => code.startsWith("export"))
    .map(({ name }) => ({ name, from: file }));
  return [...listed, ...own];
}

let made: ReadonlyMap<string, readonly Declaration[]> | null = null;

/** The package's public names, by the path they are imported from. */
export function publicNames(): ReadonlyMap<string, readonly Declaration[]> {
  made ??= readNames(); // the compiler takes its time
  return made;
}

function readNames(): ReadonlyMap<string, readonly Declaration[]> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-api-"));
  try {
    const compiler = join(ROOT, "node_modules/.bin/tsc");
    const options = [
      "--emitDeclarationOnly",
      "--noCheck", // what is declared is the same
      "--declarationMap",
      "false",
      "--sourceMap",
      "false",
      "--outDir",
      folder,
    ];
    execFileSync(compiler, ["-p", join(ROOT, "tsconfig.build.json"), ...options]);
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      readonly exports: { readonly [path: string]: string | { readonly types: string } };
    };
    const paths = Object.entries(manifest.exports).flatMap(([path, target]) =>
      typeof target === "string" ? [] : [[path, join(folder, target.types.replace("./dist/", ""))] as const],
    );
    return new Map(paths.map(([path, file]) => [`holdfast${path.slice(1)}`, namesIn(file, folder)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function namesIn(file: string, top: string): readonly Declaration[] {
  const found = exportsOf(file, top).map(({ name, from }) => {
    const beside = declarationsIn(readFileSync(from, "utf8"));
    const declared = beside.find((one) => one.name === name);
    if (declared === undefined) throw new Error(`${name} is not declared in ${from}`);
    return { name, about: declared.about, code: spelledOut(declared.code, beside) };
  });
  const byName = new Map(found.map((one) => [one.name, one]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A type that is taken from a constant, as the list it stands for: readers are not shown the constant. */
export function spelledOut(code: string, beside: readonly Declaration[]): string {
  const [, start, keys, name, index] =
    /^((?:export )?(?:declare )?type \w+ = )(keyof )?\(?typeof (\w+)\)?(\[\w+\])?;$/.exec(code) ?? [];
  const constant = beside.find((one) => one.name === name)?.code;
  if (start === undefined || constant === undefined || (keys === undefined) === (index === undefined))
    return code;
  const found =
    keys === undefined
      ? [...constant.matchAll(/"([^"]+)"[,;\]]/g)]
      : [...constant.matchAll(/^ {4}readonly (?:"([^"]+)"|(\w+)):/gm)];
  const words = new Set(found.map(([, quoted, plain]) => `"${quoted ?? plain}"`));
  return `${start.trimEnd()}\n${[...words].map((word) => `  | ${word}`).join("\n")};`;
}

/** `holdfast/in-memory` has the page in-memory.md, and the root has holdfast.md. */
function pageOf(path: string): string {
  return `${path.slice(path.indexOf("/") + 1)}.md`;
}

/** The pages of docs/reference/api by file name: one for each entry point, and their index. */
export function apiPages(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  const rows: string[] = [];
  for (const [path, names] of publicNames()) {
    const sections = names.map(({ name, about, code }) =>
      [`## ${name}`, ...(about === "" ? [] : [about]), `\`\`\`ts\n${plainCode(code)}\n\`\`\``].join("\n\n"),
    );
    pages.set(
      pageOf(path),
      `${[`# \`${path}\``, "[All entry points](README.md)", ...sections].join("\n\n")}\n`,
    );
    const links = names.map(({ name }) => `[${name}](${pageOf(path)}#${name.toLowerCase()})`);
    rows.push(`## [\`${path}\`](${pageOf(path)})\n\n${links.join(" · ")}`);
  }
  const intro = "`npm run docs:api` makes these pages from the types. Pass ids as plain strings.";
  pages.set("README.md", `${["# API reference", intro, ...rows].join("\n\n")}\n`);
  return pages;
}

/** The code without what only a compiler reads. */
function plainCode(code: string): string {
  return code
    .split("\n")
    .filter((line) => line.trim() !== "#private;")
    .join("\n")
    .replaceAll(/^(?:export )?(?:declare )?/g, "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(ROOT, "docs/reference/api");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [file, text] of apiPages()) writeFileSync(join(folder, file), text);
}
