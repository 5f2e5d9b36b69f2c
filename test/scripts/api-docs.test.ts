import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiPages, declarationsIn, spelledOut } from "../../scripts/api-docs.ts";
import { cliPage } from "../../scripts/cli-docs.ts";
import { errorsPage } from "../../scripts/error-docs.ts";
import { clientRoute } from "../../scripts/client-routes.ts";
import { httpApiPage } from "../../scripts/http-api-docs.ts";
import { testMapPage } from "../../scripts/test-map.ts";
import { CLIENT_ROUTES } from "#edges/http/client/routes";
import { OPERATIONS } from "#edges/http/routes/api";
import { ROOT } from "../edges/cli/cli-run.ts";

test("the API reference is what the types say; `npm run docs:api` makes it anew", () => {
  const folder = join(ROOT, "docs/reference/api");
  const pages = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")] as const);
  expect(new Map(pages)).toEqual(apiPages());
});

test("the reference of the HTTP API is what the table of routes says; `npm run docs:api` makes it anew", () => {
  expect(readFileSync(join(ROOT, "docs/reference/http-api.md"), "utf8")).toBe(httpApiPage());
  for (const [name, { method, path }] of OPERATIONS)
    expect(httpApiPage()).toContain(`### ${name}\n\n\`${method} ${path}\``);
});

test("the reference of errors is what the tables of codes say; `npm run docs:api` makes it anew", () => {
  expect(readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8")).toBe(errorsPage());
});

test("the map of tests is what the folders and imports say; `npm run docs:api` makes it anew", () => {
  expect(readFileSync(join(ROOT, "docs/internals/test-map.md"), "utf8")).toBe(testMapPage());
});

test("the client's table is what the table of routes says; `npm run docs:api` makes it anew", () => {
  expect(CLIENT_ROUTES).toEqual(
    Object.fromEntries(OPERATIONS.map(([name, route]) => [name, clientRoute(route)])),
  );
});

test("a declaration is read with what is said about it, whole", () => {
  const text = `import type { A } from "./a.ts";
/** What it is. */
export interface B {
    /** A member. */
    readonly a: A;
}
export declare function c(): void;
`;
  expect(declarationsIn(text)).toEqual([
    {
      name: "B",
      about: "What it is.",
      code: "export interface B {\n    /** A member. */\n    readonly a: A;\n}",
    },
    { name: "c", about: "", code: "export declare function c(): void;" },
  ]);
});

test("a type that is taken from a constant is shown as the list it stands for", () => {
  const beside = declarationsIn(`export declare const SIDES: readonly ["left", "right"];
export declare const GROUPS: {
    readonly late: "time";
    readonly early: "time";
    readonly "far-off": "place";
};
`);
  const shown = (type: string): string => spelledOut(`export type T = ${type};`, beside);
  expect(shown("(typeof SIDES)[number]")).toBe('export type T =\n  | "left"\n  | "right";');
  expect(shown("keyof typeof GROUPS")).toBe('export type T =\n  | "late"\n  | "early"\n  | "far-off";');
  expect(shown("(typeof GROUPS)[K]")).toBe('export type T =\n  | "time"\n  | "place";');
  expect(shown("typeof SIDES")).toBe("export type T = typeof SIDES;");
});

test("the reference of the command line is that of the commands; only tables are aligned afterwards", async () => {
  const unaligned = (text: string): string => text.replaceAll(/[ -]+/g, " ");
  expect(unaligned(readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8"))).toBe(
    unaligned(await cliPage()),
  );
});
