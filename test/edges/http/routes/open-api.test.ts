import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { OPERATIONS } from "#edges/http/routes/api";
import { openApiDocument } from "#edges/http/routes/open-api";
import { ROOT } from "../../cli/cli-run.ts";
import { serve } from "../served.ts";

interface Document {
  readonly paths: {
    readonly [path: string]: { readonly [method: string]: { readonly operationId: string } };
  };
  readonly components: { readonly schemas: { readonly [name: string]: unknown } };
}

const document = openApiDocument("1.2.3") as unknown as Document;

const PROBES = ["livez GET /livez", "readyz GET /readyz"];

test("the OpenAPI document has every route of the table and no other but the probes, each under its name", () => {
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
    ),
  );
  const known = OPERATIONS.map(([name, { method, path }]) => `${name} ${method} ${path}`);
  expect(told.toSorted()).toEqual([...known, ...PROBES].toSorted());
  expect(new Set(OPERATIONS.map(([, { method, path }]) => `${method} ${path}`)).size).toBe(OPERATIONS.length);
});

test("what the document refers to is in it, and a path names exactly the parameters it has", () => {
  const text = JSON.stringify(document);
  for (const [, name = ""] of text.matchAll(/#\/components\/schemas\/(\w+)/g))
    expect(Object.keys(document.components.schemas)).toContain(name);
  for (const [name, { path, params }] of OPERATIONS)
    expect([name, [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one)]).toEqual([
      name,
      Object.keys(params?.members ?? {}),
    ]);
});

test("no name stands in two parts of a request: a client gives all of them in one object", () => {
  for (const [name, { params, query, body }] of OPERATIONS) {
    const names = [params, query, body].flatMap((part) => Object.keys(part?.members ?? {}));
    expect([name, names.length]).toEqual([name, new Set(names).size]);
  }
});

test("reading is a GET, and whatever is no GET is a write that needs more than the right to read", () => {
  for (const [name, { method, writes, right }] of OPERATIONS) {
    expect([name, writes === true]).toEqual([name, method !== "GET"]);
    if (method !== "GET") expect([name, right]).not.toEqual([name, "read"]);
  }
});

test("the server gives the document that its table says, and nothing beside it", async () => {
  await using served = await serve({ version: "1.2.3" });
  expect(await served.client(await served.token("read")).openApi()).toEqual(document);
});

test.each(["index", "store/index", "agent/index", "transfer/messages/index"])(
  "src/%s.ts loads no operation and no dependency",
  async (entry) => {
    const loaded = await loadedBy(entry);
    // The words of states and notices are there for every edge.
    const isKnown = (url: string): boolean => /\/src\/operations\/(?:text|views\/notices)\.ts$/.test(url);
    const unwanted = loaded.filter((url) => /node_modules|\/src\/operations\//.test(url) && !isKnown(url));
    expect(unwanted).toEqual([]);
  },
);

test("the ACP edge loads operations, and no dependency but their schemas", async () => {
  const packages = (await loadedBy("edges/acp/index")).filter((url) => url.includes("/node_modules/"));
  expect(packages.filter((url) => !url.includes("/node_modules/valibot/"))).toEqual([]);
});

test("the root entry does not reach the server, nor what it is made with", async () => {
  const loaded = await loadedBy("index");
  expect(loaded.filter((url) => /node_modules|\/edges\//.test(url))).toEqual([]);
});

async function loadedBy(entry: string): Promise<readonly string[]> {
  const program = `
    const { registerHooks } = await import("node:module");
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(join(ROOT, `src/${entry}.ts`))});
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  const loaded = JSON.parse(stdout) as readonly string[];
  expect(loaded.some((url) => url.endsWith(`/src/${entry}.ts`))).toBe(true);
  return loaded;
}

test("the client reaches nothing that a browser lacks", () => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [statement, target = ""] of text.matchAll(/^(?:import|export) [^;]*?from "([^"]+)";$/gm)) {
      if (/^(?:import|export) type /.test(statement)) continue;
      if (target.startsWith("#")) visit(`src/${target.slice(1)}.ts`);
      else if (target.startsWith(".")) visit(normalize(join(dirname(file), target)));
      else expect.fail(`${file} loads ${target}`);
    }
    expect([file, /\bprocess\.\w|\bBuffer\b|require\(/.test(text)]).toEqual([file, false]);
  };
  visit("src/edges/http/client/index.ts");
  expect(reached.size).toBeGreaterThan(5);
});
