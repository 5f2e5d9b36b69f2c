/**
 * Goal: what follows a store that is written to may be killed anywhere; run again and stopped by Ctrl-C, it leaves the same.
 * Method: a process follows while this one writes and forks; it is killed with SIGKILL in between, begun again, and sent SIGINT
 * when it has caught up. Then everything that both stores tell is compared.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { openHoldfast } from "#open";
import { tellAll } from "../../../support/random-space.ts";
import { MAIN, someStores } from "../cli-run.ts";
import { spaceOf } from "#conversation/on-space";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const [sqlite = "", jsonl = ""] = stores.addresses;

interface Following {
  readonly child: ChildProcess;
  /** Resolves when so many lines were printed in all. */
  lines(count: number): Promise<void>;
}

function follow(): Following {
  const args = [MAIN, "copy", "--from", sqlite, "--to", jsonl, "--follow", "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const printed: string[] = [];
  const changed = new EventTarget();
  createInterface({ input: child.stdout }).on("line", (line) => {
    printed.push(line);
    changed.dispatchEvent(new Event("line"));
  });
  const until = async (so: () => boolean): Promise<void> => {
    while (!so()) await new Promise((resolve) => changed.addEventListener("line", resolve, { once: true }));
  };
  return {
    child,
    lines: (count) => until(() => printed.length >= count),
  };
}

test("killed while it follows, begun again and stopped, the copy is the same", async () => {
  await using from = await openHoldfast({ store: sqlite });
  const chat = await from.create({ id: "chat" });
  const write = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const content = [{ type: "text", text: `word ${n}` }] as const;
      await chat.append({ type: "message", message: { role: "user", content } });
      if (n % 10 === 0) await (await chat.fork({})).title(`fork ${n}`);
    }
  };
  const first = follow();
  await first.lines(1);
  const writing = write(120);
  await first.lines(3);
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  await writing;
  const second = follow();
  await second.lines(1);
  await write(30);
  await from.create({ id: "last" });
  await using to = await openHoldfast({ store: jsonl, readOnly: true });
  const caughtUp = async (): Promise<boolean> => {
    for await (const { conversation, headSeq } of from.list())
      if (
        (
          await spaceOf(to)
            .head(conversation)
            .catch(() => null)
        )?.headSeq !== headSeq
      )
        return false;
    return true;
  };
  await expect.poll(caughtUp).toBe(true);
  second.child.kill("SIGINT");
  const [status] = (await once(second.child, "close")) as [number | null];
  expect(status).toBe(0);
  expect(await tellAll(spaceOf(to))).toEqual(await tellAll(spaceOf(from)));
});
