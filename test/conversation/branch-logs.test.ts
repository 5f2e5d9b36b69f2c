/** Which logs hold a stretch of a branch: the answer costs what the stretch is long, not the branch. */
import { expect, test } from "vitest";
import { logsOnBranch } from "#conversation/branch-pages";
import { Holdfast } from "#conversation/holdfast";
import { user } from "#log/message";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { spaceOf } from "#conversation/on-space";

test("logs of a stretch of 60 take few calls in a conversation, in its fork, and where one log follows another", async () => {
  const calls: string[] = [];
  const store = decorateStore(inMemoryStore(), { around: (call, verb) => (calls.push(verb), call()) });
  const source = await new Holdfast(store, "default").create({ id: "source" });
  await source.append(Array.from({ length: 2_000 }, (_, at) => user(`prompt ${at}`)));
  const fork = await source.fork({ id: "fork" });
  await fork.append(Array.from({ length: 500 }, (_, at) => user(`own ${at}`)));

  const read = async (conversation: typeof source, first: number) => {
    const { leaf: end, origin } = await conversation.head();
    calls.length = 0;
    const branch = { conversation: conversation.id, end };
    const found = await logsOnBranch(spaceOf(conversation), branch, { first, last: first + 59 }, origin);
    return { ...found, calls: calls.length };
  };
  const logs = (...stretches: readonly (readonly [string, number])[]): object =>
    stretches.map(([conversation, from]) => ({ conversation, from }));
  expect(await read(source, 100)).toEqual({ logs: logs(["source", 100]), inherited: 0, calls: 0 });
  expect(await read(fork, 2_200)).toEqual({ logs: logs(["fork", 2_200]), inherited: 2_001, calls: 1 });
  expect(await read(fork, 100)).toEqual({ logs: logs(["source", 100]), inherited: 2_001, calls: 3 });
  const across = await read(fork, 1_990);
  expect(across).toMatchObject({ logs: logs(["source", 1_990], ["fork", 2_001]), inherited: 2_001 });
  expect(across.calls).toBeLessThan(10);
});
