/**
 * Makes docs/reference/http-api.md from the OpenAPI document, which is made from the table that checks requests. `node
 * scripts/http-api-docs.ts` writes the file.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openApiDocument } from "../src/edges/http/routes/open-api.ts";

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly "x-right"?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: JsonSchema } } };
  readonly responses: {
    readonly [status: string]: {
      readonly content: {
        readonly [type: string]: { readonly schema?: JsonSchema; readonly "x-event"?: JsonSchema };
      };
    };
  };
}

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [name: string]: JsonSchema } };
}

const HEAD = `# HTTP API

\`npm run docs:api\` generates this page from the table of routes, like \`GET /api/openapi.json\`. Requests, error responses and
idempotency keys: [use the API from a program](../how-to/operate/http-client.md). Permissions: [tokens](../how-to/operate/tokens.md).

A write takes the header \`idempotency-key\`. A response may have more fields than this page lists. In the client of \`holdfast/client\`
an operation is a method of the same name. It takes the fields of path, query and body as one object.
`;

/** The whole page. */
export function httpApiPage(): string {
  const { paths, components } = openApiDocument("") as unknown as Document;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = Map.groupBy(all, ({ operation }) => operation.tags[0] ?? "");
  const parts = [...groups].map(([group, operations]) =>
    [`## ${group}`, ...operations.map(operationPart)].join("\n\n"),
  );
  const shapes = Object.entries(components.schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `### ${name}\n\n${members(schema).join("\n")}`);
  return `${[HEAD.trimEnd(), ...parts, "## Shapes", ...shapes].join("\n\n")}\n`;
}

function operationPart({
  path,
  method,
  operation,
}: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}): string {
  const { operationId, summary, "x-right": right, parameters, requestBody, responses } = operation;
  const [status, answer] = Object.entries(responses)[0] ?? ["200", undefined];
  const asked = parameters
    .filter((one) => one.in !== "header")
    .map(({ name, in: where, required, schema }) =>
      line(name, schema, { where, isOptional: required !== true }),
    );
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? ["", undefined];
  const sent =
    body === undefined ? [] : [`- body: \`${type}\``, ...members(body.schema).map((one) => `  ${one}`)];
  return [
    `### ${operationId}`,
    `\`${method.toUpperCase()} ${path}\` · ${right === undefined ? "no token" : `right \`${right}\``} · ${status}`,
    `${summary}.`,
    ...(asked.length + sent.length === 0 ? [] : [[...asked, ...sent].join("\n")]),
    answerText(answer?.content ?? {}),
  ].join("\n\n");
}

function answerText(content: Operation["responses"][string]["content"]): string {
  const [type, given] = Object.entries(content)[0] ?? ["", undefined];
  if (type === "text/event-stream")
    return `Answers a stream of events, each ${kind(given?.["x-event"]?.items ?? {})}.`;
  if (type !== "application/json" || given?.schema === undefined)
    return `Answers ${Object.keys(content)
      .map((one) => `\`${one}\``)
      .join(", ")}.`;
  if (given.schema.$ref !== undefined) return `Answers ${kind(given.schema)}.`;
  const rows = members(given.schema).filter((one) => !one.includes("`schemaVersion`"));
  return `Answers:\n\n${rows.length === 0 ? "- an object" : rows.join("\n")}`;
}

function members(schema: JsonSchema): readonly string[] {
  const { properties = {}, required = [], type, anyOf, oneOf } = schema;
  const choices = oneOf ?? (schema.properties === undefined ? anyOf : undefined);
  if (choices !== undefined) return choices.map((one) => `- ${kind(one)}`);
  if (schema.enum !== undefined) return schema.enum.map((value) => `- \`${value}\``);
  const rows = Object.entries(properties).map(([name, property]) =>
    line(name, property, { where: null, isOptional: !required.includes(name) }),
  );
  return rows.length === 0
    ? [type === "object" || type === undefined ? "- nothing that is promised" : `- ${kind({ type })}`]
    : rows;
}

function line(
  name: string,
  schema: JsonSchema,
  { where, isOptional }: { readonly where: string | null; readonly isOptional: boolean },
): string {
  const notes = [where, isOptional ? "may be left out" : null].filter((one) => one !== null);
  const told = schema.description === undefined ? "" : `: ${schema.description}`;
  return `- \`${name}\` ${kind(schema)}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}${told}`;
}

function kind(schema: JsonSchema): string {
  const { $ref, anyOf, items, type = "", minimum, maximum, maxItems } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (anyOf !== undefined) return anyOf.map(kind).join(" or ");
  if (typeof type === "object") return type.map((one) => kind({ type: one })).join(" or ");
  if (type === "array")
    return `list of ${kind(items ?? {})}${maxItems === undefined ? "" : `, at most ${maxItems}`}`;
  if (type === "integer")
    return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
      ? minimum === undefined || minimum === 0
        ? "whole number"
        : `whole number from ${minimum}`
      : `whole number from ${minimum} to ${maximum}`;
  const words: { readonly [type: string]: string } = {
    string: "text",
    boolean: "true or false",
    number: "number",
    null: "null",
    object: "object",
  };
  return words[type] ?? "any JSON";
}

if (import.meta.main)
  writeFileSync(fileURLToPath(new URL("../docs/reference/http-api.md", import.meta.url)), httpApiPage());
