import type { Json } from "#log/json/json-text";
import { FAILURE_CODES, failureOf, Refusal } from "#edges/http/guard/failures";
import { OPERATIONS, type OperationName } from "./api.ts";
import { entrySchemas } from "./entry-schemas.ts";
import { EXAMPLES } from "./examples.ts";
import { routeSchema } from "./operation-route.ts";
import {
  CLIENT_HEADER,
  type JsonSchema,
  KEY_HEADER,
  type Route,
  type RouteSchema,
  UPLOAD_TYPE,
} from "./route.ts";
import { answer, anything, choice, entryShape, named, open, record, text } from "#operations/schemas";

const FAILURE: RouteSchema = routeSchema(
  named(
    "Failure",
    answer({
      error: open({
        code: named("FailureCode", choice(FAILURE_CODES)),
        message: text(),
        safe: text({ about: "which data is unchanged or saved" }),
        next: text({ about: "what to do about it" }),
        details: record(anything()),
      }),
    }),
  ),
);

/** The document of every route, made from the table that checks requests. */
export function openApiDocument(version: string): { readonly [name: string]: Json } {
  const schemas = new Map<string, JsonSchema>(FAILURE.named);
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of OPERATIONS) {
    for (const schema of [route.params, route.query, route.body, route.response])
      for (const [known, json] of schema?.named ?? []) schemas.set(known, json);
    const methods = (paths[route.path] ??= {});
    methods[route.method.toLowerCase()] = operation(name, route);
  }
  for (const [path, { name, summary }] of Object.entries(PROBES)) paths[path] = { get: probe(name, summary) };
  for (const [known, json] of entrySchemas()) schemas.set(known, json);
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version,
      description: "Durable conversations of AI agents, over HTTP.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The server that returned this document." }],
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      responses: { Failure: FAILURE_RESPONSE },
      headers: {
        RequestId: { description: "The id of the request in the server's log.", schema: { type: "string" } },
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "holdfast_PORT" },
      },
    },
  };
}

const REQUEST_ID: Json = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

const FAILURE_RESPONSE: Json = {
  description: "The request failed. `error.code` says why.",
  headers: REQUEST_ID,
  content: {
    "application/json": {
      schema: FAILURE.json,
      example: failureOf(new Refusal("no_token", "Every request requires a token")).body as object as Json,
    },
  },
};
const FAILED: Json = { $ref: "#/components/responses/Failure" };

/** What a balancer or a supervisor asks; not in the table, because neither needs a token. */
const PROBES: { readonly [path: string]: { readonly name: string; readonly summary: string } } = {
  "/livez": { name: "livez", summary: "Answers while the process runs" },
  "/readyz": { name: "readyz", summary: "Answers 503 while the server drains or the store does not respond" },
};

function probe(name: string, summary: string): Json {
  const content = { "text/plain": { schema: { type: "string" } } };
  return {
    operationId: name,
    summary,
    tags: ["Server"],
    security: [],
    parameters: [],
    responses: {
      200: { description: summary, headers: REQUEST_ID, content },
      503: { description: "The server cannot take requests now.", headers: REQUEST_ID, content },
    },
  };
}

function operation(name: OperationName, route: Route): Json {
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
    ...requestBody(name, route),
    responses: {
      [status]: { description: summary, headers: REQUEST_ID, content: answerContent(name, route) },
      "4XX": FAILED,
      "5XX": FAILED,
    },
  };
}

function requestBody(name: OperationName, { body, takes }: Route): { readonly requestBody?: Json } {
  if (takes === "bytes")
    return {
      requestBody: {
        required: true,
        content: { [UPLOAD_TYPE]: { schema: { type: "string" } } },
      },
    };
  if (body === undefined) return {};
  const content = { "application/json": { schema: body.json, ...example(EXAMPLES[name]?.body) } };
  return { requestBody: { required: true, content } };
}

const WRITE_HEADERS: readonly Json[] = [
  {
    name: KEY_HEADER,
    in: "header",
    description: "Makes retries safe: a request with the same key runs once and returns the same response",
    schema: { type: "string", minLength: 1, maxLength: 200 },
  },
  {
    name: CLIENT_HEADER,
    in: "header",
    description: "Any value; required with a cookie instead of a token",
    schema: { type: "string" },
  },
];

const USUAL_TYPES = {
  json: "application/json",
  events: "text/event-stream",
  bytes: "application/octet-stream",
} as const;

function answerContent(name: OperationName, { answers = "json", types, response }: Route): Json {
  const content = (types ?? [USUAL_TYPES[answers]]).map((type): readonly [string, Json] => {
    if (type === USUAL_TYPES.json)
      return [type, { schema: response.json, ...example(EXAMPLES[name]?.response) }];
    const event = answers === "events" ? response : routeSchema(entryShape);
    if (type === USUAL_TYPES.events)
      return [
        type,
        { schema: { type: "string" }, example: EVENT, "x-event": { type: "array", items: event.json } },
      ];
    return [type, /^text|ndjson$/.test(type) ? { schema: { type: "string" } } : {}];
  });
  return Object.fromEntries(content);
}

const EVENT = 'id: 7\nevent: entry\ndata: {"id":"reply","seq":7, …}\n\n';

function example(value: Json | undefined): { readonly example?: Json } {
  return value === undefined ? {} : { example: value };
}

function parameters(schema: RouteSchema | undefined, where: "path" | "query"): readonly Json[] {
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
