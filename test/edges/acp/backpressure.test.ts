/** A host that stops reading: its agent waits, the bridge does not gather what nobody takes, and no byte is lost. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HostOutput } from "#edges/acp/serve";
import { openKillable } from "./bridge.ts";
import { eventually } from "./eventually.ts";
import { fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";

const LINES = 3_000; // of 8 KB: far more than all buffers on the way hold together
const BYTES_HELD_MAX = 8 * 1_048_576;
const QUIET_LOOKS = 50;

/** What the agent could write until it got no further: the same again and again, or all of it. */
async function writtenAtLast(file: string): Promise<number> {
  let [written, quiet] = [0, 0];
  await eventually("an end of the agent's writing", () => {
    const now = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    quiet = now > 0 && now === written ? quiet + 1 : 0;
    written = now;
    return quiet >= QUIET_LOOKS || now === LINES;
  });
  return written;
}

test("the agent waits for a host that does not read, and all of it comes once it does", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say hello");
  const from = host.messages.length;
  host.stopReading();
  const file = join(dir, "flood");
  const running = host.start(id, `flood ${LINES} ${file}`);
  const written = await writtenAtLast(file);
  expect(host.messages).toHaveLength(from);
  expect(written).toBeGreaterThan(0);
  expect(written * 8_000).toBeLessThan(BYTES_HELD_MAX);
  host.readOn();
  const { updates, result } = await host.finish(id, running, from);
  expect(result).toMatchObject({ stopReason: "end_turn" });
  const texts = updates.map((update) => textOf(fieldsOf(update["content"])["text"]));
  expect(texts.map((text) => Number.parseInt(text, 10))).toEqual(texts.map((_, index) => index));
  expect(texts).toHaveLength(LINES);
  expect(texts.every((text) => text.length === 8_000)).toBe(true);
  expect((await host.prompt(id, "say still here")).text).toBe("still here");
});

/** A host whose reading the test decides. */
function slowHost(): {
  readonly host: HostOutput;
  readonly taken: Buffer[];
  readonly held: boolean[];
  readonly read: () => void;
} {
  const taken: Buffer[] = [];
  const held: boolean[] = [];
  let more = Promise.withResolvers<void>();
  const output = (bytes: Uint8Array): Promise<void> => {
    taken.push(Buffer.from(bytes));
    return more.promise;
  };
  const host = new HostOutput({ output, pause: (now) => held.push(now) });
  const read = (): void => {
    more.resolve();
    more = Promise.withResolvers<void>();
    more.resolve();
  };
  return { host, taken, held, read };
}

test("one write at a time; much that waits holds the agents up until it is gone", async () => {
  const { host, taken, held, read } = slowHost();
  const lines = Array.from({ length: 300 }, (_, index) => `${index} ${"x".repeat(8_000)}`);
  for (const line of lines) host.write(Buffer.from(line));
  expect(taken).toHaveLength(1);
  expect(held).toEqual([true]);
  read();
  await eventually("the rest", () => held.length === 2);
  expect(held).toEqual([true, false]);
  expect(Buffer.concat(taken).toString()).toBe(lines.map((line) => `${line}\n`).join(""));
});

test("the first line of a tick leaves at once, those that follow in one piece", async () => {
  const { host, taken, read } = slowHost();
  read();
  for (const line of ["one", "two", "three"]) host.write(Buffer.from(line));
  expect(taken.map(String)).toEqual(["one\n"]);
  await eventually("the others", () => taken.length > 1);
  expect(taken.map(String)).toEqual(["one\n", "two\nthree\n"]);
});

test("what waits at the end is handed over, and a host that is gone takes nothing down", async () => {
  const { host, taken } = slowHost();
  for (const line of ["one", "two"]) host.write(Buffer.from(line));
  host.end();
  expect(taken.map(String)).toEqual(["one\n", "two\n"]);
  const gone = new HostOutput({
    output: () => Promise.reject(new Error("EPIPE")),
    pause: () => undefined,
  });
  gone.write(Buffer.from("lost"));
  gone.end();
});
