/** What is written beside the turns: nothing of it is lost, and no turn is lost over it. */
import { expect, test } from "vitest";
import { Runtime } from "#upstream/runtime";
import type { EntryBody } from "#log/entry";
import { aRig, isText, type Rig } from "./rig.ts";

const change = (n: number): readonly EntryBody[] => [{ type: "config_change", config: { n } }];

async function noted(rig: Rig): Promise<readonly unknown[]> {
  const branch = await (await rig.holdfast.conversation("c")).branch();
  return branch.flatMap((entry) => (entry.type === "config_change" ? [entry.config["n"]] : []));
}

test("notes that are made at the same time are all written", async () => {
  const rig = await aRig();
  await Promise.all([1, 2, 3].map((n) => rig.runtime.note("c", change(n))));
  expect(await noted(rig)).toEqual([1, 2, 3]);
});

test("a note and a prompt that come together both come through", async () => {
  const rig = await aRig();
  const first = rig.runtime.note("c", change(1));
  const turn = rig.send("remember color=blue");
  const second = rig.runtime.note("c", change(2));
  await Promise.all([first, second]);
  expect((await turn).outcome).toBe("completed");
  expect(new Set(await noted(rig))).toEqual(new Set([1, 2]));
});

test("a note made as a turn ends is written", async () => {
  const rig = await aRig();
  let made: Promise<void> = Promise.resolve();
  const ended = rig.when(
    (event) => event.type === "ended",
    () => {
      for (let n = 1; n <= 40; n++) made = made.then(() => rig.runtime.note("c", change(n)));
    },
  );
  await rig.send("hello");
  await ended;
  await made;
  expect(await noted(rig)).toHaveLength(40);
});

test("whoever takes over from a dead host holds the conversation under its own name", async () => {
  const rig = await aRig();
  const { upstreams } = rig;
  const [upstream] = upstreams;
  if (upstream === undefined) throw new Error("A rig has an agent");
  const dead = await (
    await rig.holdfast.conversation("c")
  ).own({ writer: "dead", leaseMs: 60_000, clock: rig.world.clock });
  expect(dead.epoch).toBeGreaterThan(0);
  const heir = new Runtime(rig.holdfast, {
    upstreams: [upstream],
    clock: rig.world.clock,
    writer: "heir",
    isDead: async (writer) => writer === "dead",
  });
  const holders: (string | undefined)[] = [];
  let looked: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    const { lease } = await (await rig.holdfast.conversation("c")).head();
    holders.push(lease?.writer);
  };
  await heir.send("c", "hello", { onEvent: (event) => void (isText(event) && (looked = look())) });
  await looked;
  expect(new Set(holders)).toEqual(new Set(["heir"]));
});
