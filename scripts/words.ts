/** Finds wording that readers stumble over, in the strings of the product and in the docs: `npm run check:words`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

const PHRASES = new RegExp(
  [
    String.raw`unless (?:told|given|named)`,
    String.raw`(?<!there )\b(?:is|are) no (?!longer\b|more\b)\w`,
    String.raw`\bnone\b|nobody|somebody|whoever`,
    String.raw`\banew\b|\bbehind\b|\bstands?\b|\bgo(?:es|ne)? on\b`,
    String.raw`\b(?:is|are|was|were) told\b|by itself|otherwise`,
    String.raw`\bwhat (?:is|was|came|has|cannot)\b|\bcomes? of\b`,
    String.raw`begun|figures|\bmembers?\b|the right (?:admin|write|read)|of (?:your|its) own|as well as it`,
  ].join("|"),
  "i",
);

/** Correct uses: a value of a format, the name of a policy, a stored name. */
const ALLOWED: readonly RegExp[] = [
  /behind a proxy/,
  /'none'/,
  /\bnone[,:]/,
  /\(process .*begun/,
  /^secret member$/,
];

interface Area {
  readonly name: string;
  /** A folder or a file. */
  readonly path: string;
  readonly except?: RegExp;
  /** How many places are left to rewrite. Lower it; never raise it. */
  readonly left: number;
}

const AREAS: readonly Area[] = [
  { name: "README", path: "README.md", left: 0 },
  {
    name: "docs",
    path: "docs",
    // Generated pages repeat the strings and comments of the sources; a decision is a record of its time.
    except: /^docs\/(?:decisions|reference\/api|reference\/cli\.md|reference\/http-api\.md)/,
    left: 0,
  },
  { name: "src", path: "src", except: /^src\/(?:edges\/cli|testing|store\/contract)\//, left: 0 },
  { name: "command line", path: "src/edges/cli", left: 0 },
  // Names of cases that a test runner shows to the author of a store or an adapter.
  { name: "contracts", path: "src/store/contract", left: 0 },
  { name: "testing", path: "src/testing", left: 0 },
  { name: "web UI", path: "ui/src", left: 19 },
];

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The areas with more findings than are left to rewrite. */
export function wordFindings(): readonly { readonly area: Area; readonly found: readonly Finding[] }[] {
  return AREAS.map((area) => ({ area, found: filesOf(area).flatMap(findingsIn) }));
}

function filesOf({ path, except }: Area): readonly string[] {
  const files = /\.\w+$/.test(path)
    ? [path]
    : readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" })
        .map((file) => `${path}/${file.replaceAll("\\", "/")}`)
        .filter((file) => /\.(?:tsx?|md)$/.test(file));
  return files.filter((file) => except?.test(file) !== true);
}

function findingsIn(file: string): readonly Finding[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  const texts = file.endsWith(".md") ? proseOf(source) : stringsOf(source, file.endsWith(".tsx"));
  return texts.flatMap(({ line, text }) =>
    PHRASES.test(text) && !ALLOWED.some((allowed) => allowed.test(text)) ? [{ file, line, text }] : [],
  );
}

interface Text {
  readonly line: number;
  readonly text: string;
}

/** The lines of a page without its samples. */
function proseOf(page: string): readonly Text[] {
  let isCode = false;
  return page.split("\n").flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    return isCode ? [] : [{ line: index + 1, text: line.replaceAll(/`[^`]*`|\]\([^)]*\)|<!--.*?-->/g, "") }];
  });
}

// Lookbehind: a slash after one of these starts a pattern, not a division.
const TOKEN =
  /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\})*`|(?<=[=(,:!&|?;{}[]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
const SQL =
  /\b(?:select|insert|update|delete from|create (?:table|index|function)|with)\b.*\b(?:from|set|into|as|on)\b/i;

/** String literals of more than a word, without comments, patterns and SQL; in JSX, the text between tags too. */
export function stringsOf(source: string, isJsx: boolean = false): readonly Text[] {
  const lineAt = (index: number): number => source.slice(0, index).split("\n").length;
  const literals = [...source.matchAll(TOKEN)].flatMap((match) => {
    const [token] = match;
    if (!/^["'`]/.test(token)) return [];
    const text = token.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "…");
    return /\w \w|… \w|\w …/.test(text) && !SQL.test(text.replaceAll("\n", " "))
      ? [{ line: lineAt(match.index), text }]
      : [];
  });
  if (!isJsx) return literals;
  const bare = source.replaceAll(/\/\/[^\n]*|\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
  const between = [...bare.matchAll(/>([^<>{}=;()]*\w \w[^<>{}=;()]*)</g)];
  return [...literals, ...between.map((match) => ({ line: lineAt(match.index), text: match[1] ?? "" }))];
}

if (import.meta.main) {
  for (const { area, found } of wordFindings()) {
    process.stdout.write(`${area.name}: ${found.length} (limit ${area.left})\n`);
    if (found.length <= area.left) continue;
    process.exitCode = 1;
    for (const { file, line, text } of found)
      process.stdout.write(`  ${file}:${line}: ${text.trim().replaceAll(/\s+/g, " ").slice(0, 160)}\n`);
  }
}
