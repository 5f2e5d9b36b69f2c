/** Valid requests, made from the table of routes: ids by the fixture, everything else by the schema. */
import { type JsonSchema, type Route, type RouteSchema, UPLOAD_TYPE } from "#edges/http/routes/route";
import { posted } from "../raw-requests.ts";

/** A space's ids, by the name that a path, a query or a body calls them. */
export type Ids = Readonly<Record<string, string>>;

/** One request before it becomes bytes: path parameters and query values are already encoded. */
export interface Sample {
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: Readonly<Record<string, unknown>> | null;
}

type Part = "params" | "query" | "body";

/** Text where no fixture has one; the first is found in both spaces, should a search cross them. */
const TEXTS = ["canary", "2026-01", "0".repeat(64), "0".repeat(32), "2026-01-01"];

/** A valid request for a route; fails where the generator has no value for a part of it. */
export function sampleOf(name: string, route: Route, ids: Ids): Sample {
  const params = Object.fromEntries(
    [...route.path.matchAll(/\{(\w+)\}/g)].map(([, param = ""]) => [
      param,
      ids[param] ?? missing(name, param),
    ]),
  );
  const query = objectOf(name, route.query, ids);
  const body = route.body === undefined ? null : objectOf(name, route.body, ids);
  const parts: readonly [Part, RouteSchema | undefined, unknown][] = [
    ["params", route.params, params],
    ["query", route.query, query],
    ["body", route.body, body],
  ];
  const problems = parts.flatMap(([part, schema, value]) =>
    (schema?.problems(value) ?? []).map((problem) => `${part}: ${problem}`),
  );
  if (problems.length > 0)
    throw new Error(
      `The matrix can't fill ${name}: ${problems.join("; ")}. Add a text to TEXTS or an id to IDS in test/edges/http/routes.`,
    );
  return {
    params: mapped(params, encodeURIComponent),
    query: Object.entries(query).flatMap(([key, value]) =>
      [value].flat().map((one) => [key, encodeURIComponent(String(one))] as const),
    ),
    body,
  };
}

function missing(name: string, param: string): never {
  throw new Error(
    `The matrix can't fill {${param}} of ${name}. Add an id of that name to IDS in test/edges/http/routes.`,
  );
}

/** Members that are required, and those that name something of a space. */
function objectOf(name: string, schema: RouteSchema | undefined, ids: Ids): Record<string, unknown> {
  const required = new Set(schema?.json["required"] as readonly string[] | undefined);
  const names = Object.keys(schema?.members ?? {}).filter((member) => required.has(member));
  return Object.fromEntries(
    names.map((member) => {
      const of = schema?.members?.[member];
      if (of === undefined) throw new Error(`${name} requires ${member} and does not describe it`);
      return [member, valueOf(of.json, of.named, ids[member])];
    }),
  );
}

export function resolved(json: JsonSchema, named: ReadonlyMap<string, JsonSchema>): JsonSchema {
  const ref = json["$ref"];
  return typeof ref === "string" ? (named.get(ref.split("/").at(-1) ?? "") ?? {}) : json;
}

function valueOf(json: JsonSchema, named: ReadonlyMap<string, JsonSchema>, id: string | undefined): unknown {
  const schema = resolved(json, named);
  const [first] = (schema["anyOf"] ?? []) as readonly JsonSchema[];
  if (first !== undefined) return valueOf(first, named, id);
  const [choice] = (schema["enum"] ?? []) as readonly unknown[];
  if (choice !== undefined) return choice;
  switch (schema["type"]) {
    case "string": {
      if (id !== undefined) return id;
      const pattern = new RegExp(typeof schema["pattern"] === "string" ? schema["pattern"] : "");
      return TEXTS.find((one) => pattern.test(one));
    }
    case "integer":
      return schema["minimum"] ?? 0;
    case "boolean":
      return false;
    case "array":
      return [valueOf((schema["items"] ?? {}) as JsonSchema, named, id)];
    default:
      return openObject(schema, named);
  }
}

function openObject(schema: JsonSchema, named: ReadonlyMap<string, JsonSchema>): unknown {
  const members = (schema["properties"] ?? {}) as { readonly [name: string]: JsonSchema };
  const required = (schema["required"] ?? []) as readonly string[];
  return Object.fromEntries(
    required.map((member) => [
      member,
      // The one open object that requests have is an entry.
      member === "type" ? "custom" : valueOf(members[member] ?? {}, named, undefined),
    ]),
  );
}

function pathOf(route: Route, { params, query }: Sample): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? "");
  return query.length === 0 ? path : `${path}?${query.map((pair) => pair.join("=")).join("&")}`;
}

/** The request of a sample by whoever these headers say. */
export function requestOf(
  route: Route,
  sample: Sample,
  headers: Readonly<Record<string, string>>,
): readonly [string, RequestInit] {
  const path = pathOf(route, sample);
  if (route.method === "GET") return [path, { headers }];
  if (route.takes === "bytes")
    return [
      path,
      { method: route.method, headers: { "content-type": UPLOAD_TYPE, ...headers }, body: "{}\n" },
    ];
  const init = posted("", sample.body ?? {});
  return [
    path,
    { ...init, method: route.method, headers: { "content-type": "application/json", ...headers } },
  ];
}

function mapped(
  values: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
