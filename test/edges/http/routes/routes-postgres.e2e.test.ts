/** Every route over a real PostgreSQL, each group of cases in a schema of its own. */
import { afterAll, beforeAll } from "vitest";
import { type LoopbackPostgres, startPostgres } from "../../../support/loopback-postgres.ts";
import { everyRoute } from "./every-route.ts";

let server: LoopbackPostgres;
let schemas = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

everyRoute("postgres", () => `${server.url}?schema=s${++schemas}`);
