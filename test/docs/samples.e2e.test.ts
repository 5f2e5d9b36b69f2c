/** Every sample of the README and the docs, run as a reader would: in a new project, with the packed package. */
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../edges/cli/cli-run.ts";
import { blocksOf } from "./page-blocks.ts";
import { type BlockResult, packedProject, type PageProject, runPage } from "./page-project.ts";

const PAGES = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })]
  .filter((page) => !/decisions|reference\/(?:api|http-api)/.test(page))
  .toSorted();
const RUN = new Set(["console", "sh", "js"]);
const OLDEST = join(ROOT, "test/platforms/node_modules/node/bin/node");
const node = existsSync(OLDEST) ? OLDEST : process.execPath;
const results: BlockResult[] = [];
let project: PageProject | null = null;

beforeAll(async () => void (project = await packedProject()), 300_000);
afterAll(() => {
  project?.[Symbol.dispose]();
  const row = ({ block, result, detail }: BlockResult): string =>
    `${result.padEnd(8)} ${`${block.page}:${block.line}`.padEnd(52)} ${detail.split("\n")[0]}`;
  process.stdout.write(`${results.map(row).join("\n")}\n`);
});

const pages = PAGES.filter((page) => blocksOf(page).some(({ language }) => RUN.has(language)));

describe("the samples of a page run, and print what it shows", () => {
  test.concurrent.each(pages)("%s", { timeout: 300_000 }, async (page) => {
    if (project === null) throw new Error("no project");
    const found = await runPage(page, project, node);
    results.push(...found);
    const failed = found.filter(({ result }) => result === "failed");
    expect(failed.map(({ block, detail }) => `${page}:${block.line} ${detail}`)).toEqual([]);
  });
});

test("each sample is run, saved as the file that it names, or says why not", () => {
  const loose = pages
    .flatMap(blocksOf)
    .filter(({ language, file, skip }) => language === "js" && file === null && skip === null);
  expect(loose.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});
