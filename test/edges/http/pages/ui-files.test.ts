import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATIONS } from "#edges/http/routes/api";
import { tempDir } from "../../../support/temp-dir.ts";
import { told } from "../raw-requests.ts";
import { serve, type Served } from "../served.ts";

let served: Served;
const temp = tempDir();

beforeAll(async () => {
  const { path: folder } = temp;
  mkdirSync(join(folder, "ui", "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.js"), "secret");
  writeFileSync(join(folder, "ui", "index.html"), "<!doctype html><title>Holdfast</title>");
  writeFileSync(join(folder, "ui", "assets", "index-a1b2.js"), "export {};");
  writeFileSync(join(folder, "ui", "assets", "notes.txt"), "not a part of a page");
  served = await serve({ ui: join(folder, "ui") });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  temp[Symbol.dispose]();
});

test("every address of the UI is the page, without a token and under the strict policy", async () => {
  for (const path of ["/", "/c/some-id?at=e1", "/c/some-id/tree", "/diff?a=x&b=y", "/%2e%2e/x"]) {
    const response = await served.ask(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toContain("unsafe");
  }
});

test("its parts are kept for good, by their type", async () => {
  const response = await served.ask("/assets/index-a1b2.js");
  expect(await response.text()).toBe("export {};");
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("cache-control")).toContain("immutable");
});

test("nothing else of the disk is reached", async () => {
  for (const path of [
    "/assets/../../secret.js",
    "/assets/%2e%2e%2f%2e%2e%2fsecret.js",
    "/assets/..%5c..%5csecret.js",
    "/assets/notes.txt",
    "/assets/none.js",
    "/assets/",
  ]) {
    const response = await served.ask(path);
    expect([path, await response.text()]).not.toEqual([path, "secret"]);
    if (path !== "/assets/../../secret.js") expect(response.status).toBe(401);
  }
});

test("a page of others does not get it, and the API keeps its guards", async () => {
  const headers = { host: "evil.example" };
  expect(await told(await served.ask("/", { headers }))).toEqual({ status: 403, code: "wrong_host" });
  const cross = { "sec-fetch-site": "cross-site" };
  expect((await told(await served.ask("/", { headers: cross }))).status).toBe(403);
  expect(await told(await served.ask("/api/health"))).toEqual({ status: 401, code: "no_token" });
  expect((await served.ask("/", { method: "POST" })).status).toBe(401);
});

test("no route of the API is taken for an address of the UI", async () => {
  for (const [name, route] of OPERATIONS) {
    const response = await served.ask(route.path.replaceAll(/\{\w+\}/g, "x"));
    expect([name, response.status]).toEqual([name, 401]);
  }
});

test("a launch code leads to the page", async () => {
  const grant = { token: "x", space: "default", rights: "read" } as const;
  const response = await served.ask(`/launch?code=${served.handler.launchCode(grant)}`);
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
});
