/** The rules of the house as a test: layers, sizes, words, and files nobody reads. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(Boolean);
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const sources = tracked.filter((file) => /\.tsx?$/.test(file));
const product = sources.filter((file) => file.startsWith("src/"));
const ui = sources.filter((file) => file.startsWith("ui/src/"));

const LAYERS = [
  "src/log",
  "src/store",
  "src/stores",
  "src/conversation",
  "src/turn",
  "src/upstream",
  "src/agent",
  "src/vendors",
  "src/transfer",
  "src/telemetry",
  "src/testing",
  "src/operations",
  "src/edges",
];
// Text for codes: pure, without a dependency, for every layer from transfer on and for the web UI.
const TEXT = "src/operations/text.ts";
const SIBLINGS = ["src/stores", "src/vendors", "src/edges", "src/edges/adapters"];
// What siblings share.
const VENDOR_KIT = ["vendor", "shared-endings", "native-store", "record-files"].map(
  (name) => `src/vendors/${name}.ts`,
);
const KITS = ["src/stores/indexed/", ...VENDOR_KIT];
const COMPOSERS = ["src/edges/cli/", "src/vendors/known-vendors.ts", "src/index.ts", "src/open.ts"];

function importsOf(file: string): readonly string[] {
  const found = [...read(file).matchAll(/(?:from |import |import\()"([.#][^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  return found.map((target) =>
    target.startsWith("#") ? `src/${target.slice(1)}.ts` : normalize(join(dirname(file), target)),
  );
}

const ancestorsOf = (file: string): readonly string[] =>
  file.includes("/") ? [dirname(file), ...ancestorsOf(dirname(file))] : [];

const layerOf = (file: string): number => LAYERS.findLastIndex((layer) => file.startsWith(`${layer}/`));

test("runs on the Node the package asks for", () => {
  expect(Number(process.versions.node.split(".")[0])).toBeGreaterThanOrEqual(24);
});

test("imports point to the same layer or one to the left of it", () => {
  const wrong = product.flatMap((file) =>
    layerOf(file) === -1
      ? []
      : importsOf(file)
          .filter(
            (target) =>
              target.startsWith("src/") &&
              target !== TEXT &&
              (layerOf(target) === -1 ? !file.startsWith("src/edges/cli/") : layerOf(target) > layerOf(file)),
          )
          .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("no import climbs: what lies elsewhere in the sources is named from their top", () => {
  const climbing = product.filter((file) => /(?:from |import |import\()"\.\.\//.test(read(file)));
  expect(climbing).toEqual([]);
});

test("siblings do not know each other", () => {
  const wrong = product.flatMap((file) =>
    SIBLINGS.filter(
      (folder) => file.startsWith(`${folder}/`) && !COMPOSERS.some((composer) => file.startsWith(composer)),
    ).flatMap((folder) => {
      const own = file.slice(folder.length + 1).split("/")[0];
      return importsOf(file)
        .filter(
          (target) =>
            target.startsWith(`${folder}/`) &&
            !KITS.some((kit) => target.startsWith(kit)) &&
            target.slice(folder.length + 1).split("/")[0] !== own,
        )
        .map((target) => `${file} -> ${target}`);
    }),
  );
  expect(wrong).toEqual([]);
});

// Beyond itself the UI may use how it asks, the words of the log, and what makes stored text harmless.
const UI_MAY_KNOW = [
  "src/edges/http/client/",
  "src/edges/http/faults/fault-api.ts",
  "src/log/",
  "src/transfer/views/safe-text.ts",
  TEXT,
];

test("the web UI knows the server by HTTP alone, and nobody knows the web UI", () => {
  const beyond = ui.flatMap((file) =>
    importsOf(file)
      .filter((target) => !target.startsWith("ui/") && !UI_MAY_KNOW.some((known) => target.startsWith(known)))
      .map((target) => `${file} -> ${target}`),
  );
  const knowing = product.filter((file) => importsOf(file).some((target) => target.startsWith("ui/")));
  expect(ui.length).toBeGreaterThan(20);
  expect([beyond, knowing]).toEqual([[], []]);
});

test("no page of the web UI makes HTML of a text, and nothing of it has a style in its markup", () => {
  const wrong = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|style="/;
  expect(ui.filter((file) => wrong.test(read(file)))).toEqual([]);
});

test("JSON is read by one function alone, for V8 misreads some names", () => {
  const reads = /(?<!\*.*|\/\/.*)\bJSON\.parse\(|\.json\(\)(?!\.catch)/;
  expect([...product, ...ui].filter((file) => reads.test(read(file)))).toEqual(["src/log/json/read-json.ts"]);
});

test("options are merged with their defaults by one function alone, which leaves out what is undefined", () => {
  const merges = /\.\.\.\w*(?:DEFAULT|LIVE|HYBRID)\w*,\s*\.\.\.(?:given|options|more)\b/;
  expect(product.filter((file) => merges.test(read(file)))).toEqual([]);
});

test("an upstream's turn and our own loop's stand side by side on the turn, and do not know each other", () => {
  const knows = (layer: string, other: string): readonly string[] =>
    product.filter(
      (file) => file.startsWith(layer) && importsOf(file).some((target) => target.startsWith(other)),
    );
  expect([...knows("src/agent/", "src/upstream/"), ...knows("src/upstream/", "src/agent/")]).toEqual([]);
});

test("operations and edges use the library, and never the store under it", () => {
  const above = product.filter((file) => /^src\/(?:operations|edges)\//.test(file));
  expect(above.filter((file) => importsOf(file).includes("src/conversation/on-space.ts"))).toEqual([]);
});

test("nothing below the vendors names one of them, but in comments", () => {
  const below = LAYERS.slice(0, LAYERS.indexOf("src/vendors"));
  const vendors = importsOf("src/vendors/known-vendors.ts")
    .filter((file) => !KITS.includes(file))
    .map((file) => basename(file, ".ts"));
  expect(vendors).toEqual(expect.arrayContaining(["claude", "gemini"]));
  const names = new RegExp([...vendors, "anthropic", "openai"].join("|"), "i");
  const code = (file: string): string =>
    read(file)
      .replaceAll(/\/\*[^]*?\*\//g, "")
      .replaceAll(/(^|\s)\/\/.*$/gm, "");
  expect(
    product.filter(
      (file) =>
        below.some((layer) => file.startsWith(`${layer}/`)) &&
        !file.startsWith("src/agent/models/") && // where models are named, so are their providers
        names.test(code(file)),
    ),
  ).toEqual([]);
});

test("the rules are pure", () => {
  const impure = product
    .filter((file) => file.startsWith("src/log/"))
    .filter((file) =>
      /"node:|\bDate\b|\bprocess\.\w|Math\.random|setTimeout|\bfetch\(|crypto/.test(read(file)),
    );
  expect(impure).toEqual([]);
});

// One file per case, command or projection; and the two layers whose files are one idea each.
const WIDE = new Set([
  "src/edges/cli/commands",
  "src/log",
  "src/log/projections",
  "src/store/contract",
  "src/conversation",
]);

test("no two files of a layer, or of one of its siblings, have the same name, but for the commands, which are named as people type them", () => {
  const named = [...product, ...ui].filter((file) => !/\/index\.ts$|^src\/edges\/cli\/commands\//.test(file));
  const layer = (file: string): string =>
    file
      .split("/")
      .slice(0, /^src\/(?:edges|stores|vendors)\//.test(file) ? 3 : 2)
      .join("/");
  const names = Map.groupBy(named, (file) => `${layer(file)}: ${file.slice(file.lastIndexOf("/") + 1)}`);
  expect([...names.values()].filter((files) => files.length > 1)).toEqual([]);
});

test("files stay under 400 lines and folders at 20 files", () => {
  // The example of a store is one text, which its guide shows from top to bottom.
  const long = sources.filter(
    (file) => file !== "examples/own-store.ts" && read(file).split("\n").length > 400,
  );
  const folders = Map.groupBy([...product, ...ui], dirname);
  const wide = [...folders]
    .filter(([folder, files]) => files.length > (WIDE.has(folder) ? 30 : 20))
    .map(([folder]) => folder);
  expect([long, wide]).toEqual([[], []]);
});

// What is no part of the sources: the whole of it, its documents and scripts, and what tests stand on.
const TESTS_OF_THEIR_OWN =
  /^test\/(?:absurd|agents|compat|docs|experiments|platforms|scripts|simulation|soak|support|ui)(?:\/|$)/;

test("the folders of test are those of src, and no test imports another", () => {
  const tests = sources.filter((file) => file.startsWith("test/"));
  const folders = new Set(product.flatMap((file) => ancestorsOf(file)));
  const elsewhere = tests.filter((file) => {
    const folder = dirname(file);
    return !TESTS_OF_THEIR_OWN.test(folder) && !folders.has(folder.replace("test", "src"));
  });
  const importing = tests.filter((file) => importsOf(file).some((target) => target.endsWith(".test.ts")));
  expect([elsewhere, importing]).toEqual([[], []]);
});

test("no file hides behind a name that says nothing", () => {
  expect(
    tracked.filter((file) => /(?:^|\/)(?:utils?|helpers?|common|misc|types)(?:\.|\/)/.test(file)),
  ).toEqual([]);
});

// Names that said nothing to whoever met them first.
const NAMES_GONE =
  /\b(?:Hold|Mint|systemMint|Floor|Desk|Shelf|Shelves|shelf|shelves|Spot|SessionBook|Seat|\w*Ears|Hands|Ground|Standing|[Rr]emnant|[Nn]ewborn|Juncture|[Dd]oom|Stage|Inbox|[Mm]ortal\w*|furnish|entitle|withWord|MARK_TYPES|MarkType)\b|\b(?:Told|spotOf|BatchRoom|homes?Of|makeRoom|SHELF_\w+)\b|#(?:hands|ears|line|ground|desk|take\w*)\b|\btake(?:[A-Z]\w*)?[(:]/;

test("names that were given up do not come back", () => {
  const code = (file: string): string => read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"[^"\n]*"/g, "");
  expect(product.filter((file) => NAMES_GONE.test(code(file)))).toEqual([]);
});

test("no leftovers, no casts to any, no focused or skipped tests, no filter of errors", () => {
  const banned =
    /\bTODO\b|\bFIXME\b|\.only\(|\.skip\(|: any\b|as any\b|@ts-ignore|export default (?!config)|onUnhandledError|dangerouslyIgnore/;
  expect(
    [...sources, "package.json"].filter((file) => file !== "test/tidy.test.ts" && banned.test(read(file))),
  ).toEqual([]);
});

test("the environment is read at the command line, and where a model is opened", () => {
  const readers = product.filter((file) => /process\.env/.test(read(file)));
  expect(readers.filter((file) => !file.startsWith("src/edges/cli/"))).toEqual([
    "src/agent/models/open-model.ts",
  ]);
});

test("every source file is reached from an export, the command line, a worker or the web UI", () => {
  const exported = [...read("package.json").matchAll(/"\.\/dist\/([^"]+)\.js"/g)].map(
    (match) => `src/${match[1]}.ts`,
  );
  const workers = product.flatMap((file) =>
    [...read(file).matchAll(/\? "\.\/([\w-]+)\.ts"/g)].map((match) =>
      normalize(join(dirname(file), `${match[1]}.ts`)),
    ),
  );
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file) || !product.includes(file)) return;
    reached.add(file);
    for (const target of importsOf(file)) visit(target);
  };
  for (const file of [...exported, ...workers, ...ui.flatMap(importsOf)]) visit(file);
  expect(product.filter((file) => !reached.has(file))).toEqual([]);
});

test("the changelog has its unreleased part on top and the lock file names no host", () => {
  expect(read("CHANGELOG.md")).toMatch(/^# Changelog\n\n## Unreleased\n/);
  expect(read("package-lock.json")).not.toContain('"resolved": "http');
});
