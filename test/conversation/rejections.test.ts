/** Whoever calls the library may handle every failure in one place: a promise that is refused, never a throw. */
import { expect, test } from "vitest";
import { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { Owner } from "#conversation/owner";
import { openHoldfast } from "#open";
import { Runtime } from "#upstream/runtime";
import { runEffects } from "#index";
import { simUpstream, SimWorld } from "#testing/index";
import { inMemoryStore } from "#stores/in-memory/index";

/** What answers at once, without a promise. */
const AT_ONCE: ReadonlySet<string> = new Set(["session", "cancel", "inSpace"]);

type Call = (...given: readonly unknown[]) => unknown;

function methodsOf(kind: { readonly prototype: object }, at: object): readonly (readonly [string, Call])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(kind.prototype)).flatMap(([name, { value }]) =>
    typeof value === "function" && name !== "constructor" && !AT_ONCE.has(name)
      ? [[name, (...given: readonly unknown[]): unknown => Reflect.apply(value as Call, at, given)] as const]
      : [],
  );
}

function isTail(answer: unknown): answer is AsyncGenerator {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

/** Calls without anything, with what is no id, and with what cannot be read. */
const MISTAKES: readonly (readonly unknown[])[] = [
  [],
  ["no id!", "no id!", "no id!"],
  [null, null, null],
  ["q", { conversation: "no id!", at: "no id!", key: "", id: "no id!" }],
];

test("every verb of the library answers a mistake by a refused promise, none throws", async () => {
  await using holdfast = new Holdfast(inMemoryStore(), "default");
  const conversation = await holdfast.create({ id: "a" });
  await using owner = await conversation.own({ writer: "w", leaseMs: 1_000 });
  const runtime = new Runtime(holdfast, {
    upstreams: [simUpstream(new SimWorld({ seed: 1 }), { agent: "a" })],
  });
  const verbs = [
    ...methodsOf(Conversation, conversation),
    ...methodsOf(Owner, owner),
    ...methodsOf(Runtime, runtime),
    ...methodsOf(Holdfast, holdfast).filter(([name]) => name !== "close"),
    ...Object.entries({ runEffects }),
  ] as readonly (readonly [string, Call])[];
  const thrown: string[] = [];
  for (const [name, call] of verbs)
    for (const given of MISTAKES)
      try {
        const answer = call(...given);
        if (answer instanceof Promise) await answer.catch(() => undefined);
        else if (isTail(answer)) await answer.next().catch(() => undefined);
      } catch (error) {
        thrown.push(`${name}(${JSON.stringify(given)}) threw ${String(error)}`);
      }
  expect(verbs.length).toBeGreaterThan(30);
  expect(thrown).toEqual([]);
});

test.each([5, {}, null])("a store that is none (%j) is refused where it is given", async (store) => {
  await expect(openHoldfast({ store: store as never })).rejects.toMatchObject({ code: "invalid_request" });
});
