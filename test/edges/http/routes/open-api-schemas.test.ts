import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { failureOf, FAILURE_CODES, Refusal } from "#edges/http/guard/failures";
import { OPERATIONS } from "#edges/http/routes/api";
import { EXAMPLES } from "#edges/http/routes/examples";
import { openApiDocument } from "#edges/http/routes/open-api";
import { FACT_TYPES, NODE_TYPES } from "#log/entry-types";
import { ERROR_GROUPS, type ErrorCode, LogError } from "#log/errors";
import { serve } from "../served.ts";

interface Content {
  readonly [type: string]: { readonly example?: unknown };
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: {
        readonly operationId: string;
        readonly security?: readonly [];
        readonly requestBody?: { readonly content: Content };
        readonly responses: { readonly [status: string]: { readonly content: Content } };
      };
    };
  };
  readonly components: {
    readonly schemas: {
      readonly [name: string]: {
        readonly enum?: readonly string[];
        readonly oneOf?: readonly { readonly $ref: string }[];
        readonly discriminator?: {
          readonly propertyName: string;
          readonly mapping: { readonly [value: string]: string };
        };
        readonly examples?: readonly unknown[];
      };
    };
  };
}

const document = openApiDocument("1.2.3") as unknown as Document;
const { schemas } = document.components;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "holdfast:", ...document });

function checker(name: string): ValidateFunction {
  return ajv.compile({ $ref: `holdfast:#/components/schemas/${name}` });
}

test("the document is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate({ ...openApiDocument("1.2.3") });
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test("the document says where the server is, and that every operation may fail", () => {
  expect(document.servers).toMatchObject([{ url: "/" }]);
  for (const { operationId, responses, security } of operations)
    if (security === undefined)
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(["4XX", "5XX"]),
      ]);
});

test("an entry is a union of every type of the table, told apart by its type", () => {
  const { oneOf = [], discriminator } = schemas["Entry"] ?? {};
  const types: readonly string[] = [...NODE_TYPES, ...FACT_TYPES];
  expect(discriminator?.propertyName).toBe("type");
  expect(Object.keys(discriminator?.mapping ?? {})).toEqual(types);
  expect(Object.values(discriminator?.mapping ?? {})).toEqual(oneOf.map(({ $ref }) => $ref));
  for (const { $ref } of oneOf) expect(schemas).toHaveProperty($ref.slice($ref.lastIndexOf("/") + 1));
});

test("entries that a server returns fit the schema, and others do not", async () => {
  await using served = await serve();
  const token = await served.token("admin");
  const client = served.client(token);
  const { conversation } = await client.createConversation({ title: "One" });
  const parts = { usage: { inputTokens: 1 }, model: "m" };
  const call = { type: "toolCall", id: "c", name: "look", input: { at: 1 } };
  const entries = [
    { type: "message", id: "ask", message: { role: "user", content: [{ type: "text", text: "a" }] } },
    { type: "message", message: { role: "assistant", content: [call, { type: "x_own", a: 1 }], ...parts } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", content: [] } },
    { type: "attempt", turn: "t", model: "m" },
    { type: "memory", change: "removed", key: "k" },
    { type: "label", target: "ask", label: null },
    { type: "metadata", metadata: { tags: ["a"], archived: null } },
  ];
  await client.appendEntries({ conversation, entries });
  const check = checker("Entry");
  const { entries: stored } = await client.listEntries({ conversation });
  expect(stored.length).toBeGreaterThan(entries.length);
  for (const entry of stored)
    expect([entry.type, check(entry), check.errors]).toEqual([entry.type, true, null]);
  const asked = stored.find(({ type }) => type === "message");
  expect(check({ ...asked, message: undefined })).toBe(false);
  expect(check({ ...asked, type: "nothing" })).toBe(false);
});

test("a failure has one of the codes of the document, whether the log or the server refuses", () => {
  const check = checker("Failure");
  expect(schemas["FailureCode"]?.enum).toEqual(FAILURE_CODES);
  const known = Object.keys(ERROR_GROUPS) as readonly ErrorCode[];
  const errors = [
    ...known.map((code) => new LogError(code, "x")),
    new Refusal("no_token", "x"),
    new Error("x"),
  ];
  for (const error of errors) expect(check(failureOf(error).body)).toBe(true);
  expect(check({ error: { code: "x", message: "", safe: "", next: "", details: {} } })).toBe(false);
});

test("503 means that the store does not answer, also within its time, or that the server stops; nothing else", () => {
  const statusOf = (code: ErrorCode): number => failureOf(new LogError(code, "x")).status;
  const codes = Object.keys(ERROR_GROUPS) as readonly ErrorCode[];
  expect(codes.filter((code) => statusOf(code) === 503).toSorted()).toEqual(["store_failed", "store_gone"]);
  expect([statusOf("busy"), statusOf("diverged")]).toEqual([423, 409]);
});

test("every example fits the schema that it stands beside", () => {
  const byName = new Map(OPERATIONS);
  for (const [name, { body, response }] of Object.entries(EXAMPLES)) {
    const route = byName.get(name as (typeof OPERATIONS)[number][0]);
    if (body !== undefined) expect([name, route?.body?.problems(body)]).toEqual([name, []]);
    if (response !== undefined) expect([name, route?.response.problems(response)]).toEqual([name, []]);
  }
  const check = checker("Entry");
  const examples = schemas["Entry"]?.examples ?? [];
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(check(example)).toBe(true);
  const shown = operations.flatMap(
    ({ requestBody }) => requestBody?.content["application/json"]?.example ?? [],
  );
  expect(shown.length).toBeGreaterThan(5);
});

test("what needs no token is answered without one, and says the id of the request", async () => {
  await using served = await serve();
  const open = Object.entries(document.paths).filter(([, { get }]) => get?.security !== undefined);
  expect(open.length).toBeGreaterThan(1);
  for (const [path, { get }] of open) {
    const { status, headers } = await served.ask(path);
    expect(Object.keys(get?.responses ?? {})).toContain(String(status));
    expect(headers.get("x-request-id")).toMatch(/\S/);
  }
});
