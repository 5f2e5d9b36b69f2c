import type { Json } from "#log/json/json-text";
import { OPERATIONS } from "./api.ts";
import { type AnyRoute, CLIENT_HEADER, KEY_HEADER, UPLOAD_TYPE } from "./route.ts";
import { type JsonSchema, list, named, open, record, type Schema, anything, text } from "./value-schema.ts";

const failure: Schema<object> = named(
  "Failure",
  open({
    error: open({
      code: text(),
      message: text(),
      safe: text({ about: "what has not changed, and what is not lost" }),
      next: text({ about: "what to do about it" }),
      details: record(anything()),
    }),
  }),
);

/** The document of every route, made from the table that checks requests. */
export function openApiDocument(version: string): { readonly [name: string]: Json } {
  const schemas = new Map<string, JsonSchema>(failure.named);
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of OPERATIONS) {
    for (const schema of [route.params, route.query, route.body, route.response])
      for (const [known, json] of schema?.named ?? []) schemas.set(known, json);
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operation(name, route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Holdfast", version, description: "Durable conversations of AI agents, over HTTP." },
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "holdfast_PORT" },
      },
    },
  };
}

function operation(name: string, route: AnyRoute): Json {
  const { summary, group, right, status = 200, writes } = route;
  return {
    operationId: name,
    summary,
    tags: [group],
    "x-right": right,
    parameters: [
      ...parameters(route.params, "path"),
      ...parameters(route.query, "query"),
      ...(writes === true ? WRITE_HEADERS : []),
    ],
    ...requestBody(route),
    responses: {
      [status]: { description: summary, content: answerContent(route) },
      default: { description: "It was not done.", content: { "application/json": { schema: failure.json } } },
    },
  };
}

function requestBody({ body, takes }: AnyRoute): { readonly requestBody?: Json } {
  if (takes === "bytes")
    return {
      requestBody: {
        required: true,
        content: { [UPLOAD_TYPE]: { schema: { type: "string", format: "binary" } } },
      },
    };
  if (body === undefined) return {};
  return { requestBody: { required: true, content: { "application/json": { schema: body.json } } } };
}

const WRITE_HEADERS: readonly Json[] = [
  {
    name: KEY_HEADER,
    in: "header",
    description: "The same key is the same write: a repetition changes nothing and is answered alike",
    schema: { type: "string", minLength: 1, maxLength: 200 },
  },
  {
    name: CLIENT_HEADER,
    in: "header",
    description: "Any value; needed where a cookie stands for a token",
    schema: { type: "string" },
  },
];

function answerContent({ answers = "json", response }: AnyRoute): Json {
  if (answers === "events")
    return { "text/event-stream": { schema: { type: "string" }, "x-event": list(response).json } };
  if (answers === "bytes") return { "application/octet-stream": {} };
  return { "application/json": { schema: response.json } };
}

function parameters(schema: Schema<unknown> | undefined, where: "path" | "query"): readonly Json[] {
  const { properties = {}, required = [] } = (schema?.json ?? {}) as {
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, json]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    schema: json,
  }));
}
