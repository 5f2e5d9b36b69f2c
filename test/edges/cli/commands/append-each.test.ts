import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, MAIN, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

describe.each(stores.addresses)("over %s", (store) => {
  test("acknowledges each line in order, and only after it can be read back", async () => {
    await runHere(store, ["new", "--id", "each"]);
    const child = spawn(process.execPath, [MAIN, "--store", store, "append", "each", "--each"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (let seq = 2; seq <= 4; seq++) {
      child.stdin.write(`${said("user", `line ${seq}`)}\n`);
      const { seq: acknowledged, id } = JSON.parse((await answers.next()).value as string) as {
        seq: number;
        id: string;
      };
      expect(acknowledged).toBe(seq);
      const stored = jsonLines((await runHere(store, ["log", "each", "--json"])).out);
      expect(stored.at(-1)).toMatchObject({ seq, id });
    }
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  test("stops at the first bad line, names it, and keeps what was acknowledged", async () => {
    await runHere(store, ["new", "--id", "stops"]);
    const input = [
      said("user", "one"),
      said("user", "two"),
      said("user", "bad", { parentId: "nobody" }),
      said("user", "never"),
    ].join("\n");
    const ran = await runHere(store, ["append", "stops", "--each", "--key", "job", "--json"], input);
    expect(ran.status).toBe(2);
    expect(jsonLines(ran.out).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(jsonLines(ran.err)).toMatchObject([{ error: { code: "unknown_parent", details: { line: 3 } } }]);
    expect(jsonLines((await runHere(store, ["log", "stops", "--json"])).out)).toHaveLength(3);
    const again = await runHere(
      store,
      ["append", "stops", "--each", "--key", "job"],
      [said("user", "one"), said("user", "two"), said("user", "three")].join("\n"),
    );
    expect(jsonLines(again.out)).toMatchObject([
      { seq: 2, deduped: true },
      { seq: 3, deduped: true },
      { seq: 4 },
    ]);
  });

  test("follows a log as it grows, and ends quietly on Ctrl-C", async () => {
    await runHere(store, ["new", "--id", "followed"]);
    const child = spawn(process.execPath, [MAIN, "--store", store, "log", "followed", "-f", "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> =>
      (JSON.parse((await lines.next()).value as string) as { type: string }).type;
    expect(await next()).toBe("conversation");
    await runHere(store, ["append", "followed"], said("user", "hello"));
    expect(await next()).toBe("message");
    const closed = once(child, "close");
    child.kill("SIGINT");
    expect(await closed).toEqual([0, null]);
  });

  test("loses nothing it acknowledged when it is killed in mid-write", async () => {
    await runHere(store, ["new", "--id", "killed"]);
    const child = spawn(process.execPath, [MAIN, "--store", store, "append", "killed", "--each"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.on("error", () => undefined);
    child.stdin.write(Array.from({ length: 3_000 }, (_, at) => `${said("user", `line ${at}`)}\n`).join(""));
    const acknowledged: unknown[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push((JSON.parse(line) as { id: string }).id);
      if (acknowledged.length === 50) child.kill("SIGKILL");
    }
    const stored = jsonLines((await runHere(store, ["log", "killed", "--json"])).out).map(({ id }) => id);
    expect(stored.slice(1, acknowledged.length + 1)).toEqual(acknowledged);
    expect((await runHere(store, ["append", "killed"], said("user", "on it goes"))).status).toBe(0);
    expect((await runHere(store, ["doctor"])).status).toBe(0);
  });
});

test("ends quietly when the reader of its output goes away", async () => {
  const [store = ""] = stores.addresses;
  await runHere(store, ["new", "--id", "long"]);
  await runHere(
    store,
    ["append", "long"],
    Array.from({ length: 2_000 }, (_, at) => said("user", `${"x".repeat(200)} ${at}`)).join("\n"),
  );
  const child = spawn(process.execPath, [MAIN, "--store", store, "log", "long", "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaints = child.stderr.toArray();
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(await complaints).toEqual([]);
});
