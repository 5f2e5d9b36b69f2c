/**
 * Goal: what is published runs on the oldest Node it asks for and on Bun, as it does on the checkout's Node.
 * Method: the package is built and packed, unpacked as npm would install it, and the contract, the library and the
 * command line are run from there by each engine. The engines come with `npm install` (package.json beside this file).
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeContract } from "../../src/store/contract/store-contract.ts";
import { installDependencies, packedFile } from "../support/packed.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
// In memory where there is such a folder: thousands of syncs say nothing about an engine.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-packed-"));
const installed = join(folder, "node_modules", "holdfast");
const main = join(installed, "dist/edges/cli/main.js");
const cases = 3 * storeContract.filter((promise) => promise.needsPowerCut !== true).length;

const platforms = join(root, "test/platforms");
const require = createRequire(join(platforms, "package.json"));
const engines: readonly { readonly name: string; readonly path: string }[] = [
  { name: "the oldest Node it asks for", path: join(platforms, "node_modules/node/bin/node") },
  { name: "Bun", path: bunPath() },
];

/** Bun's own package would fetch it again by a script; the package of its platform has it as it is. */
function bunPath(): string {
  const { optionalDependencies } = require("bun/package.json") as {
    optionalDependencies: { readonly [name: string]: string };
  };
  const found = Object.keys(optionalDependencies).flatMap((name) => {
    const path = join(dirname(require.resolve("bun/package.json")), "..", name, "bin");
    return existsSync(path) ? readdirSync(path).map((file) => join(path, file)) : [];
  });
  return found.find((path) => /bun(?:\.exe)?$/.test(path)) ?? "bun";
}

beforeAll(async () => {
  const packed = await packedFile();
  mkdirSync(installed, { recursive: true });
  installDependencies(folder);
  await run("tar", ["-xzf", packed, "-C", installed, "--strip-components=1"]);
  cpSync(join(platforms, "contract.mjs"), join(folder, "contract.mjs"));
});

afterAll(() => rmSync(folder, { recursive: true }));

test("the package has no source maps that lead nowhere, and names the oldest Node it was tried on", () => {
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
  const manifest = (path: string): { engines: { node: string }; dependencies: { node: string } } =>
    JSON.parse(readFileSync(path, "utf8"));
  const tried = manifest(join(platforms, "package.json")).dependencies.node;
  expect(`${manifest(join(installed, "package.json")).engines.node}.0`).toBe(`>=${tried}`);
});

test("what is published names its own files by their paths alone", () => {
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
  const code = files.filter((file) => /\.(?:js|ts)$/.test(file));
  expect(code.length).toBeGreaterThan(100);
  const named = code.filter((file) =>
    /(?:from|import)\s*\(?\s*"#/.test(readFileSync(join(installed, file), "utf8")),
  );
  expect(named).toEqual([]);
  expect(files.filter((file) => file.endsWith("package.json"))).toEqual(["package.json"]);
});

test.concurrent.each(engines)("every case of the contract and the library run on $name", async ({ path }) => {
  const { stdout } = await run(path, ["contract.mjs"], { cwd: folder, maxBuffer: 10_000_000 });
  expect(JSON.parse(stdout)).toEqual({
    passed: cases,
    failed: [],
    used: [1, 1, 1],
    exported: ["function", "function", true],
  });
});

test.each([...engines, { name: "this Node", path: process.execPath }])(
  "the command line runs on $name",
  async ({ path }) => {
    const env = { ...process.env, HOLDFAST_STORE: `sqlite:${join(folder, "cli.db")}`, NO_COLOR: "1" };
    const said = await run(path, [main, "help"], { cwd: folder, env });
    expect([said.stdout.includes("holdfast COMMAND"), said.stderr]).toEqual([true, ""]);
    const made = await run(path, [main, "new", "--title", "tried"], { cwd: folder, env });
    const { stdout, stderr } = await run(path, [main, "ls", "--json"], { cwd: folder, env });
    expect([stdout.includes(made.stdout.trim()), made.stderr, stderr]).toEqual([true, "", ""]);
  },
);

test("an older Node is told so in one sentence, by a file that it can read", async () => {
  const older = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.20.8" })`;
  const ended = await run(process.execPath, ["--import", older, main, "ls"], { cwd: folder }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr.trim().split("\n").length).toBe(1);
  expect(readFileSync(main, "utf8")).not.toMatch(/^import\b/m);
});
