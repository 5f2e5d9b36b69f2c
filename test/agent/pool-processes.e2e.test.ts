/** Two processes that hold the same conversation: what one has written the other goes on from, and an overtaken one adds nothing. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import { tempDir } from "../support/temp-dir.ts";
import { programFile } from "../support/programs.ts";

const program = programFile(join(import.meta.dirname, "../support/pooled-host.ts"));

interface Other {
  readonly child: ChildProcess;
  ask(line: string): Promise<unknown>;
  next(): Promise<unknown>;
}

async function hostOn(store: string, address: string): Promise<Other> {
  const child = spawn(process.execPath, [program, store, "c", address], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
  expect(await next()).toEqual({ ready: true });
  const ask = (line: string): Promise<unknown> => {
    child.stdin.write(`${line}\n`);
    return next();
  };
  return { child, ask, next };
}

test.each(["sqlite", "jsonl"])(
  "each goes on from what the other wrote; one that was overtaken, or killed, leaves the log whole: %s",
  async (kind) => {
    using dir = tempDir();
    const store = `${kind}:${join(dir.path, "store")}`;
    await using holdfast = await openHoldfast({ store });
    const chat = await holdfast.create({ id: "c" });
    const one = await hostOn(store, "host-1");
    const two = await hostOn(store, "host-2");
    expect(await one.ask("say 1")).toEqual({ text: "say 1", outcome: "completed", before: 0 });
    expect(await two.ask("say 2")).toEqual({ text: "say 1|say 2", outcome: "completed", before: 2 });
    // What it holds is older than the log, and it does not answer from it.
    expect(await one.ask("say 3")).toEqual({ text: "say 1|say 2|say 3", outcome: "completed", before: 4 });
    expect(await chat.holder()).toMatchObject({ address: "host-1" });

    expect(await one.ask("say hold 4")).toEqual({ holding: true });
    expect(await two.ask("say 5")).toMatchObject({ text: "say 1|say 2|say 3|say hold 4|say 5" });
    expect(await chat.holder()).toMatchObject({ address: "host-2" });
    expect(await one.ask("go")).toEqual({ code: "fenced" });
    expect(await one.ask("say 6")).toMatchObject({
      text: "say 1|say 2|say 3|say hold 4|say 5|say 6",
      outcome: "completed",
    });

    expect(await one.ask("say hold 7")).toEqual({ holding: true });
    one.child.kill("SIGKILL");
    await once(one.child, "exit");
    expect(await two.ask("say 8")).toMatchObject({ outcome: "completed" });
    const outcomes = (await chat.facts(["turn_end"])).map((end) => end.type === "turn_end" && end.outcome);
    expect(outcomes.filter((outcome) => outcome === "interrupted")).toHaveLength(2);
    const said = (await chat.context()).messages.filter(({ role }) => role === "user");
    expect(said.map(({ content }) => content[0])).toMatchObject(
      ["1", "2", "3", "hold 4", "5", "6", "hold 7", "8"].map((n) => ({ text: `say ${n}` })),
    );
    two.child.stdin?.end();
    await once(two.child, "exit");
  },
);
