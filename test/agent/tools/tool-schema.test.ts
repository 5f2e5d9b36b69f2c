/** How a model is told of a tool, and what it is told when its input does not fit: real zod, valibot and arktype. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkInput, toolDefinition } from "#agent/tools/tool-schema";
import type { Json } from "#log/json/json-text";
import type { StandardSchema, Tool } from "#turn/effects/tool";

const tool = (more: Partial<Tool>): Tool => ({ name: "mail", run: async () => "", ...more });

const SCHEMAS: readonly (readonly [string, StandardSchema])[] = [
  ["zod", z.object({ to: z.string(), copies: z.number().optional(), parts: z.array(z.string()).optional() })],
  [
    "valibot",
    toStandardJsonSchema(
      v.object({ to: v.string(), copies: v.optional(v.number()), parts: v.optional(v.array(v.string())) }),
    ),
  ],
  ["arktype", type({ to: "string", "copies?": "number", "parts?": "string[]" })],
];

test.each(SCHEMAS)("a schema of %s is told as JSON Schema and checks what comes", async (_, input) => {
  const mail = tool({ input, description: "Sends mail" });
  const definition = toolDefinition(mail);
  expect(definition).toMatchObject({
    name: "mail",
    description: "Sends mail",
    inputSchema: {
      type: "object",
      required: ["to"],
      properties: { to: { type: "string" }, copies: { type: "number" } },
    },
  });
  expect(toolDefinition(mail)).toBe(definition);
  expect(await checkInput(mail, { to: "bob", copies: 2 })).toEqual({ value: { to: "bob", copies: 2 } });
  const bad = await checkInput(mail, { to: 7, parts: ["a", 1] });
  expect("problem" in bad && bad.problem).toMatch(/not run[\s\S]*to[\s\S]*parts\[?\.?1/);
  for (const other of [null, "text", [], 7] as const)
    expect(await checkInput(mail, other)).toHaveProperty("problem");
});

test("what a schema makes of an input is what the tool is given", async () => {
  const input = z.object({ n: z.coerce.number().default(5) });
  expect(await checkInput(tool({ input }), {})).toEqual({ value: { n: 5 } });
  expect(await checkInput(tool({ input }), { n: "7" })).toEqual({ value: { n: 7 } });
  const later = z.object({ n: z.number() }).refine(async ({ n }) => n > 3, "too small");
  expect(await checkInput(tool({ input: later }), { n: 1 })).toMatchObject({
    problem: expect.stringContaining("too small"),
  });
});

const circular: { [name: string]: unknown } = { type: "object" };
circular["properties"] = { self: circular };

test.each([
  ["a date, which has no JSON Schema", { input: z.object({ at: z.date() }) }],
  ["one that does not say itself as JSON Schema", { input: v.object({ to: v.string() }) }],
  ["a text", { input: z.string() }],
  ["a list in plain JSON Schema", { input: { type: "array" } }],
  ["an unknown type", { input: { type: "object", properties: { to: { type: "strnig" } } } }],
  ["properties that are a list", { inputSchema: { type: "object", properties: [] } }],
  ["required that is a text", { inputSchema: { type: "object", required: "to" } }],
  ["an enum that is a text", { inputSchema: { type: "object", properties: { a: { enum: "x" } } } }],
  ["alternatives that are no list", { inputSchema: { type: "object", anyOf: {} } }],
  ["a cycle", { inputSchema: circular as { [name: string]: Json } }],
  [
    "a function inside",
    { inputSchema: { type: "object", x: () => 1 } as unknown as { [name: string]: Json } },
  ],
  ["a name with a blank", { name: "send mail" }],
  ["no name", { name: "" }],
] as const)("%s is refused before a model is asked, and the tool is named", (_, more) => {
  const given = tool(more);
  expect(() => toolDefinition(given)).toThrow(
    expect.objectContaining({ code: "invalid_request", details: { tool: given.name } }),
  );
});

test("the schema that a tool says itself goes before what its library would say", () => {
  const inputSchema = { type: "object", properties: { at: { type: "string" } } };
  expect(toolDefinition(tool({ input: z.object({ at: z.date() }), inputSchema })).inputSchema).toEqual(
    inputSchema,
  );
  expect(toolDefinition(tool({})).inputSchema).toEqual({ type: "object", properties: {} });
  const union = z.discriminatedUnion("k", [
    z.object({ k: z.literal("a") }),
    z.object({ k: z.literal("b"), n: z.number() }),
  ]);
  expect(toolDefinition(tool({ input: union })).inputSchema).toHaveProperty("type", "object");
});

const PLAIN = {
  type: "object",
  required: ["to"],
  additionalProperties: false,
  properties: {
    to: { type: "string" },
    kind: { enum: ["a", "b", null] },
    fixed: { const: { x: 1 } },
    n: { type: ["integer", "null"] },
    list: { type: "array", items: { type: "object", required: ["y"] } },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    never: false,
  },
} as const;

test.each([
  [{ to: "x", kind: null, n: 3, list: [{ y: 1 }], either: 2, fixed: { x: 1 } }, []],
  [{}, ["to is missing"]],
  [{ to: 1 }, ["to must be string (got number)"]],
  [{ to: "x", kind: "c" }, ["kind must be one of"]],
  [{ to: "x", fixed: { x: 2 } }, ["fixed must be"]],
  [{ to: "x", n: 1.5 }, ["n must be integer or null"]],
  [{ to: "x", list: [{ y: 1 }, {}] }, ["list[1].y is missing"]],
  [{ to: "x", either: true }, ["either does not match"]],
  [{ to: "x", never: 1 }, ["never is not allowed"]],
  [{ to: "x", extra: 1 }, ["extra is an unknown"]],
  [
    JSON.parse('{"to":"x","__proto__":1,"constructor":2}') as Json,
    ["__proto__ is an unknown", "constructor is an unknown"],
  ],
  [[], ["the input must be object"]],
])("plain JSON Schema: %j", async (input, problems) => {
  const checked = await checkInput(tool({ input: PLAIN }), input);
  if (problems.length === 0) expect(checked).toEqual({ value: input });
  else
    for (const problem of problems)
      expect(checked).toMatchObject({ problem: expect.stringContaining(problem) });
});

test("a schema that throws, and any input at all, end in an answer and not in an error", async () => {
  const throwing: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "x",
      validate: () => {
        throw new Error("broken");
      },
    },
  };
  expect(await checkInput(tool({ input: throwing }), {})).toMatchObject({
    problem: expect.stringContaining("broken"),
  });
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (input) => {
      for (const [, schema] of SCHEMAS) {
        const checked = await checkInput(tool({ input: schema }), input as Json);
        expect("value" in checked || checked.problem.isWellFormed()).toBe(true);
      }
      expect(await checkInput(tool({ input: PLAIN }), input as Json)).toBeDefined();
    }),
    { numRuns: 50 },
  );
});
