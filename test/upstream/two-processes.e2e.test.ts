/** Two processes on one conversation, with default options: a living turn is let be, a dead one is taken over at once. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openHoldfast, Runtime } from "#index";
import { actingUpstream } from "../support/acting-upstream.ts";
import { tempDir } from "../support/temp-dir.ts";
import { programFile } from "../support/programs.ts";

const program = programFile(join(import.meta.dirname, "../support/long-turn.ts"));
const host = { onEvent: (): void => undefined };
const quick = actingUpstream(async function* () {
  yield { type: "text", text: "At once." };
});

interface Other {
  readonly child: ChildProcess;
  line(): Promise<string>;
}

/** The other process, in the middle of its turn. */
async function inATurn(address: string, id: string): Promise<Other> {
  const child = spawn(process.execPath, [program, address, id], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  expect(await line()).toBe("begun");
  return { child, line };
}

test.each(["sqlite", "jsonl"])(
  "a second process is told that a conversation is busy, the first completes; once it is dead, nobody waits for it: %s",
  async (kind) => {
    using dir = tempDir();
    const store = `${kind}:${join(dir.path, "store")}`;
    await using holdfast = await openHoldfast({ store });
    await using runtime = new Runtime(holdfast, { upstreams: [quick] });
    const { id } = await holdfast.create();
    const first = await inATurn(store, id);
    await expect(runtime.send(id, "me too", host)).rejects.toMatchObject({ code: "busy" });
    await expect(runtime.retry(id, host)).rejects.toMatchObject({ code: "busy" });
    first.child.stdin?.write("\n");
    expect(await first.line()).toBe("completed");
    expect(await runtime.send(id, "me too", host)).toMatchObject({ outcome: "completed" });
    const doomed = await inATurn(store, id);
    doomed.child.kill("SIGKILL");
    await once(doomed.child, "exit");
    expect(await runtime.send(id, "and now?", host)).toMatchObject({ outcome: "completed" });
    const ends = await (await holdfast.conversation(id)).facts(["turn_end"]);
    expect(ends.map((end) => end.type === "turn_end" && end.outcome)).toEqual([
      "completed",
      "completed",
      "interrupted",
      "completed",
    ]);
  },
);
