import fc from "fast-check";
import { expect } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { ContextMessage } from "#log/projections/pairs";
import type { Message } from "#log/message";
import { inMemoryStore } from "#stores/in-memory/index";
import { loadImages, storeImages } from "#transfer/messages/index";

export type Fields = { readonly [name: string]: unknown };
export type Wires = readonly Fields[];

/** What a log makes of messages: bytes lie beside it, and a context is read. */
export async function throughLog(messages: readonly Message[]): Promise<readonly ContextMessage[]> {
  const chat = await new Holdfast(inMemoryStore(), "default").create();
  const stored = await storeImages(messages, chat);
  await chat.append(stored.map((message) => ({ type: "message", message }) as const));
  const context = await chat.context();
  expect(context.issues).toEqual([]);
  return loadImages(context.messages, chat);
}

export const words: fc.Arbitrary<string> = fc
  .string({ minLength: 1, maxLength: 8 })
  .filter((text) => text.trim() !== "" && text.trimEnd() === text);
export const base64: fc.Arbitrary<string> = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));
export const object: fc.Arbitrary<Fields> = fc.dictionary(
  fc.constantFrom("a", "b"),
  fc.oneof(words, fc.integer(), fc.constant(null)),
);
export const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
export const parts = (...kinds: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<readonly unknown[]> =>
  fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 4 });
export const cache: fc.Arbitrary<Fields | undefined> = fc.constantFrom(
  undefined,
  { type: "ephemeral" },
  { type: "ephemeral", ttl: "1h" },
);

/** Turns of a person, an assistant with calls, and a result for each of them. */
export function turns<C extends Fields>(of: {
  readonly asks: fc.Arbitrary<Fields>;
  readonly says: (calls: readonly C[]) => fc.Arbitrary<Fields>;
  readonly call: (id: string) => fc.Arbitrary<C>;
  readonly results: (calls: readonly string[]) => fc.Arbitrary<Wires>;
}): fc.Arbitrary<Wires> {
  const turn = fc.integer({ min: 0, max: 2 }).chain((count) => {
    const ids = Array.from({ length: count }, (_, at) => `c${at}`);
    const calls = fc.tuple(...ids.map((id) => of.call(id))) as fc.Arbitrary<readonly C[]>;
    return fc
      .tuple(of.asks, calls.chain(of.says), count === 0 ? fc.constant([]) : of.results(ids))
      .map(([ask, say, results]) => [ask, say].concat(results));
  });
  return fc
    .tuple(fc.array(turn, { maxLength: 3 }), of.asks)
    .map(([all, last]) => [...all.flat(), last].map((wire) => JSON.parse(JSON.stringify(wire)) as Fields));
}

/** Members without a value say nothing. */
export function withoutNulls(value: unknown): Fields {
  return Object.fromEntries(Object.entries(value as Fields).filter(([, inner]) => inner != null));
}

export function listed(content: unknown): Wires {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Wires);
  return blocks.map(withoutNulls).filter(({ type, text }) => type !== "text" || text !== "");
}

/** Neighbours of one role as one message. */
export function merged(wires: Wires, read: (wire: Fields) => { role: unknown; content: Wires }): Wires {
  const all: { role: unknown; content: Wires }[] = [];
  for (const wire of wires) {
    const one = read(withoutNulls(wire));
    const last = all.at(-1);
    if (last !== undefined && last.role === one.role) last.content = last.content.concat(one.content);
    else all.push(one);
  }
  return all;
}
