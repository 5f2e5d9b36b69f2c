/** Writes src/edges/http/client/routes.ts from the table of operations: what a client needs of each. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { OPERATIONS } from "../src/edges/http/routes/api.ts";
import type { Route } from "../src/edges/http/routes/route.ts";

/** What a client reads of a route. */
export function clientRoute({ method, path, query, body, takes, answers, writes }: Route): object {
  const names = (part: Route["query"]): readonly string[] => Object.keys(part?.members ?? {});
  return {
    method,
    path,
    ...(query === undefined ? {} : { query: names(query) }),
    ...(body === undefined ? {} : { body: names(body) }),
    ...(takes === undefined ? {} : { takes }),
    ...(answers === undefined ? {} : { answers }),
    ...(writes === undefined ? {} : { writes }),
  };
}

if (import.meta.main) {
  const rows = OPERATIONS.map(([name, route]) => `  ${name}: ${JSON.stringify(clientRoute(route))},\n`);
  const file = fileURLToPath(import.meta.resolve("../src/edges/http/client/routes.ts"));
  writeFileSync(
    file,
    `import type { OperationName } from "#edges/http/routes/api";
import type { ClientRoute } from "./transport.ts";

/** Every operation as a client sends it. \`npm run docs:api\` writes this file. */
export const CLIENT_ROUTES: { readonly [K in OperationName]: ClientRoute } = {
${rows.join("")}};
`,
  );
}
