import { toJsonSchema } from "@valibot/to-json-schema";
import type { Row } from "#operations/operation";
import {
  type Fields,
  isList,
  object,
  problemsOf,
  readText,
  type Schema,
  SCHEMA_NAMES,
} from "#operations/schemas";
import type { JsonSchema, Route, RouteSchema } from "./route.ts";

const STREAM_TYPES = ["application/json", "text/event-stream"];

/** The route of a row: fields that its path names are there, the others in the query of a read and the body of an act. */
export function routeOf(row: Row & { readonly input: Fields; readonly output: Schema }): Route {
  const { http = "", input, access, kind, summary, group, status, stream, storesAnswer, output } = row;
  const { exports, long, types = stream === undefined ? undefined : STREAM_TYPES } = row;
  const [method = "", path = ""] = http.split(" ");
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const fields = Object.entries(input).filter(([name]) => kind !== "upload" || name !== "file");
  const params = fields.filter(([name]) => inPath.has(name));
  const rest = partSchema(Object.fromEntries(fields.filter(([name]) => !inPath.has(name))));
  const isEmpty = fields.length === params.length;
  return {
    method: method as Route["method"],
    path,
    right: access,
    summary,
    group,
    ...(status === undefined ? {} : { status }),
    ...(types === undefined ? {} : { types }),
    ...(exports === undefined ? {} : { exports }),
    ...(long === undefined ? {} : { long }),
    ...(kind === "download" ? { answers: "bytes" } : kind === "stream" ? { answers: "events" } : {}),
    ...(kind === "upload" ? { takes: "bytes", writes: true } : {}),
    ...(storesAnswer === undefined ? {} : { kept: storesAnswer }),
    ...(params.length === 0 ? {} : { params: partSchema(Object.fromEntries(params)) }),
    ...(kind === "act" ? { writes: true, body: rest } : isEmpty ? {} : { query: rest }),
    response: routeSchema(output),
  };
}

function partSchema(fields: Fields): RouteSchema {
  const members = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, routeSchema(field)]),
  );
  return Object.assign(routeSchema(object(fields)), { members });
}

/** The schema of a route; its JSON Schema is made when a document is. */
export function routeSchema(schema: Schema): RouteSchema {
  let document: Documented | null = null;
  const read = (): Documented => (document ??= documented(schema));
  return {
    get json() {
      return read().json;
    },
    get named() {
      return read().named;
    },
    takesList: isList(schema),
    problems: (value) => problemsOf(schema, value),
    fromText: (texts) => readText(schema, texts),
  };
}

interface Documented {
  readonly json: JsonSchema;
  readonly named: ReadonlyMap<string, JsonSchema>;
}

function documented(schema: Schema): Documented {
  const named = new Map<string, JsonSchema>();
  const { $schema: _, ...json } = toJsonSchema(schema, {
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const { propertyNames: _names, required, ...rest } = jsonSchema;
      const own = { ...rest, ...(required === undefined || required.length === 0 ? {} : { required }) };
      const name = SCHEMA_NAMES.get(valibotSchema);
      if (name === undefined) return own;
      named.set(name, own as JsonSchema);
      return { $ref: `#/components/schemas/${name}` };
    },
  });
  return { json: json as JsonSchema, named };
}
