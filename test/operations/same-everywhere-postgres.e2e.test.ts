import { afterAll, beforeAll } from "vitest";
import { type LoopbackPostgres, startPostgres } from "../support/loopback-postgres.ts";
import { sameEverywhere } from "./same-everywhere.ts";

let server: LoopbackPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

sameEverywhere("postgres", () => `${server.url}?schema=operations`);
