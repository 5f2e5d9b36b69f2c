import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../edges/cli/cli-run.ts";

const DOCS = globSync("docs/**/*.md", { cwd: ROOT });
const PAGES = [...DOCS, ...globSync("*.md", { cwd: ROOT }), "bench/README.md"].filter(
  (page) => page !== "CHANGELOG.md",
);
const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

interface Link {
  readonly from: string;
  readonly to: string;
  readonly anchor: string;
}

function linksOf(page: string): readonly Link[] {
  const text = textOf(page).replaceAll(/^( *)```[\s\S]*?^\1```$/gm, "");
  return [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, path = "", anchor = "", image]) => ({ path: image ?? path, anchor }))
    .filter(({ path, anchor }) => !/^[a-z]+:/.test(path) && `${path}${anchor}` !== "")
    .map(({ path, anchor }) => ({
      from: page,
      to: path === "" ? page : normalize(join(dirname(page), path)),
      anchor,
    }));
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
  return new Set(headings);
}

const links = PAGES.flatMap(linksOf);

test("no link is dead, and no anchor is missing", () => {
  const dead = links.filter(({ to, anchor }) => {
    if (!existsSync(join(ROOT, to))) return true;
    return anchor !== "" && to.endsWith(".md") && !anchorsOf(to).has(anchor);
  });
  expect(dead.map(({ from, to, anchor }) => `${from} → ${relative(".", to)}#${anchor}`)).toEqual([]);
});

test("every page is reached from docs/README.md in two clicks", () => {
  const targets = Map.groupBy(links, ({ from }) => from);
  const after = (pages: Iterable<string>): Set<string> =>
    new Set([...pages].flatMap((page) => (targets.get(page) ?? []).map(({ to }) => to)));
  const first = after(["docs/README.md"]);
  const reached = new Set(["docs/README.md", ...first, ...after(first)]);
  expect(DOCS.filter((page) => !reached.has(page))).toEqual([]);
});
