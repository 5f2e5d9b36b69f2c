/** What was used and what it cost, added up in every way alike. */
import { expect, test } from "vitest";
import { jsonLines } from "../cli-run.ts";
import { MODEL, modelCli } from "../model-cli.ts";

interface Row {
  readonly name: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number | null;
  readonly unpricedAnswers: number;
}

test("by model, day and conversation the totals are the same; failed attempts count, forks do not count twice", async () => {
  await using cli = await modelCli([
    { text: "one" },
    { text: "two" },
    { text: "cut", fail: { kind: "cut", when: "middle" } },
    { text: "three" },
    { text: "four" },
  ]);
  await cli.run(["chat", "a", "-p", "x", "--model", MODEL]);
  await cli.run(["fork", "a", "--id", "b"]);
  await cli.run(["chat", "b", "-p", "y"]);
  await cli.run(["chat", "b", "-p", "z"]);
  await cli.run(["chat", "c", "-p", "x", "--model", "openai/unheard-of"]);
  const usage = async (...args: readonly string[]): Promise<{ rows: readonly Row[]; total: Row }> =>
    jsonLines((await cli.run(["usage", ...args, "--json"])).out)[0] as unknown as {
      rows: readonly Row[];
      total: Row;
    };
  const [model, day, conversation] = [
    await usage(),
    await usage("--by", "day"),
    await usage("--by", "conversation"),
  ];
  expect(day.total).toEqual(model.total);
  expect(conversation.total).toEqual(model.total);
  expect(model.rows.map(({ name, unpricedAnswers }) => [name, unpricedAnswers])).toEqual([
    [MODEL, 0],
    ["openai/unheard-of", 1],
  ]);
  expect(model.rows[1]?.costMicros).toBeNull();
  expect(model.total).toMatchObject({ unpricedAnswers: 1, costMicros: model.rows[0]?.costMicros });
  expect(day.rows).toHaveLength(1);
  expect(conversation.rows.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  const [a] = conversation.rows;
  expect((await usage("a")).total.inputTokens).toBe(a?.inputTokens);
  const people = await cli.run(["usage"]);
  expect(people.out).toMatch(/unheard-of .*unknown\n/);
  expect(people.out).toMatch(/total .*at least \$/);
  expect((await cli.run(["usage", "--by", "week"])).status).toBe(2);
  expect((await cli.run(["usage", "nobody"])).status).toBe(3);
});

test("where nothing was used it says so; the simulated model costs nothing, and that is known", async () => {
  await using cli = await modelCli();
  expect(await cli.run(["usage"])).toMatchObject({
    status: 0,
    out: "",
    err: expect.stringMatching(/^.+\n$/),
  });
  await cli.run(["chat", "s", "-p", "hello", "--model", "sim"]);
  expect((await cli.run(["usage", "s"])).out).toMatch(/sim .*\$0\.0000\n/);
});

test("tokens that were recorded without a cost are not taken for free, whatever their model costs now", async () => {
  await using cli = await modelCli();
  await cli.run(["new", "--id", "old"]);
  const message = { role: "assistant", content: [], model: MODEL, usage: { inputTokens: 5 } };
  await cli.run(["append", "old"], { input: JSON.stringify({ type: "message", message }) });
  expect((await cli.run(["usage", "old"])).out).toMatch(/total +5 .*unknown\n/);
});
