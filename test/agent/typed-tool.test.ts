/** A tool by its schema: what `run` is given has the type that zod, valibot or arktype say. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Agent } from "#agent/agent";
import { tool } from "#agent/tools/tool-schema";
import { Holdfast } from "#conversation/holdfast";
import type { Json } from "#log/json/json-text";
import { inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "./scripted-model.ts";

const given: unknown[] = [];

const BY_ZOD = tool({
  name: "mail",
  description: "Sends an email",
  input: z.object({ to: z.string(), copies: z.coerce.number().default(1) }),
  timeoutMs: 5_000,
  run: async (input, { idempotencyKey }) => {
    expectTypeOf(input).toEqualTypeOf<{ to: string; copies: number }>();
    expectTypeOf(idempotencyKey).toBeString();
    given.push(input);
    return { content: `Sent to ${input.to}`, state: { copies: input.copies } };
  },
  dryRun: async (input) => {
    expectTypeOf(input).toEqualTypeOf<{ to: string; copies: number }>();
    return `Would send to ${input.to}`;
  },
});

const BY_VALIBOT = tool({
  name: "mail",
  input: toStandardJsonSchema(v.object({ to: v.string(), copies: v.optional(v.number(), 1) })),
  run: async (input) => {
    expectTypeOf(input).toEqualTypeOf<{ to: string; copies: number }>();
    given.push(input);
    return `Sent to ${input.to}`;
  },
});

const BY_ARKTYPE = tool({
  name: "mail",
  input: type({ to: "string", "copies?": "number" }),
  run: async (input) => {
    expectTypeOf(input).toEqualTypeOf<{ to: string; copies?: number }>();
    given.push(input);
    return `Sent to ${input.to}`;
  },
});

const BY_JSON_SCHEMA = tool({
  name: "mail",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  run: async (input) => {
    expectTypeOf(input).toEqualTypeOf<Json>();
    given.push(input);
    return "Sent";
  },
});

test.each([
  ["zod", BY_ZOD, { to: "bob", copies: 1 }],
  ["valibot", BY_VALIBOT, { to: "bob", copies: 1 }],
  ["arktype", BY_ARKTYPE, { to: "bob" }],
  ["JSON Schema", BY_JSON_SCHEMA, { to: "bob" }],
])(
  "a tool by a schema of %s is given what the schema makes of a call, and no call that does not fit",
  async (_, mail, value) => {
    given.length = 0;
    const holdfast = new Holdfast(inMemoryStore(), "default");
    const call = (id: string, input: object): object => ({ calls: [{ id, name: "mail", input }] });
    const model = new ScriptedModel([call("1", { to: 7 }), call("2", { to: "bob" })]);
    await using agent = new Agent(holdfast, { model, tools: [mail], permission: () => "allow" });
    const { id } = await holdfast.create();
    expect(await agent.send(id, "Send it")).toMatchObject({ outcome: "completed" });
    expect(given).toEqual([value]);
  },
);

test("a tool that no model can be told of, or with a time that cannot be meant, is refused where it is defined", () => {
  const run = async (): Promise<string> => "";
  const refused = expect.objectContaining({ code: "invalid_request" });
  expect(() => tool({ name: "no good", input: z.object({}), run })).toThrow(refused);
  expect(() => tool({ name: "at", input: z.object({ at: z.date() }), run })).toThrow(refused);
  expect(() => tool({ name: "plain", input: v.object({}), run })).toThrow(refused);
  expect(() => tool({ name: "late", input: z.object({}), timeoutMs: Number.NaN, run })).toThrow(refused);
});
