/**
 * Goal: an erase that loses power leaves a conversation whole or gone, keeps what forks inherited, and can be repeated.
 * Method: as in jsonl-power-cuts.test.ts, the power goes at every operation of an erase, and every disk that may be found
 * afterwards is opened, read, erased again if the conversation is still there, and searched for the secret.
 */
import { expect, test } from "vitest";
import { isLogError } from "#log/errors";
import { conv, entryId, texts, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { FaultyDisk, PowerLoss } from "../../support/faulty-disk.ts";
import { append, create, idsIn, idsAndTime, spaceOn } from "../../support/jsonl-rig.ts";

const SECRET = "the planted secret";

async function erasable(disk: FaultyDisk): Promise<SpaceStore> {
  const space = spaceOn(disk);
  for (const id of ["a", "c"]) {
    await create(space, id, [user("kept", `${id}1`)]);
    await append(space, id, [user(SECRET, `${id}2`)]);
    await space.putBlob(conv(id), new TextEncoder().encode(SECRET));
  }
  await space.fork({
    source: conv("a"),
    entry: entryId("a1"),
    conversation: conv("b"),
    id: entryId("fork"),
    time: idsAndTime.now(),
    key: null,
  });
  await append(space, "b", [user("mine", "b1")]);
  return space;
}

test("a power cut during an erase leaves the conversation whole or gone, its fork readable, and the erase repeatable", async () => {
  const before = new FaultyDisk();
  await erasable(before);
  const wrong: string[] = [];
  for (let at = 0; ; at++) {
    const disk = new FaultyDisk(before.steps + at);
    const space = await erasable(disk);
    const erase = async (): Promise<void> => {
      await space.erase(conv("a"));
      await space.erase(conv("c"));
    };
    await erase().catch((error: unknown) => {
      if (!(error instanceof PowerLoss)) throw error;
    });
    for (const outcome of disk.outcomes()) {
      const found = await verdictOnErase(outcome.disk);
      if (found !== null) wrong.push(`cut at ${at}, ${outcome.name}: ${found}`);
    }
    if (!disk.off) break;
  }
  expect(wrong).toEqual([]);
});

async function idsOrNull(space: SpaceStore, id: string): Promise<readonly string[] | null> {
  try {
    return await idsIn(space, id);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.join("\n") === right.join("\n");
}

async function verdictOnErase(disk: FaultyDisk): Promise<string | null> {
  const space = spaceOn(disk);
  if (!same(await texts(space, "b"), ["kept", "mine"])) return "the fork lost what it inherited";
  for (const id of ["a", "c"]) {
    const found = await idsOrNull(space, id);
    if (found !== null && !same(found, [`${id}-root`, `${id}1`, `${id}2`]))
      return `${id} is half there: ${found.join(" ")}`;
    if (found !== null) await space.erase(conv(id));
  }
  for (const [path, bytes] of disk.files())
    if (Buffer.from(bytes).includes(SECRET)) return `the secret is still in ${path}`;
  return same(await texts(spaceOn(disk), "b"), ["kept", "mine"]) ? null : "the fork lost what it inherited";
}
