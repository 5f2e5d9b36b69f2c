import { expect } from "vitest";
import { readDamaged, readLog } from "#conversation/read-log";
import { openHoldfast } from "#index";
import { conv, type Rig, user } from "#store/contract/rig";
import { spaceOf } from "#conversation/on-space";

/**
 * What every store promises of a log that has lost its third entry: all the others can be read, what crosses the gap fails
 * with it, and the damage is named. `appends`: whether the conversation takes new entries.
 */
export async function readsAroundLostEntry(
  rig: Rig,
  given: { readonly lose: () => Promise<unknown>; readonly appends: boolean },
): Promise<void> {
  const before = await rig.space();
  await rig.create(before, "a", [user("one", "m1")]);
  await rig.append(before, "a", [user("two", "m2")]);
  await rig.append(before, "a", [user("three", "m3"), user("four", "m4")]);
  await rig.append(before, "a", [user("five", "m5")]);
  await given.lose();
  const store = await rig.open();
  const space = spaceOf(await openHoldfast({ store }));
  const ids: string[] = [];
  const read = async (): Promise<void> => {
    for await (const entry of readLog(space, conv("a"), { after: 0 })) ids.push(entry.id);
  };
  await expect(read()).rejects.toMatchObject({
    code: "damaged",
    details: { reachableSeq: 2, resumesSeq: 4 },
  });
  expect(ids.filter((id) => !["a-root", "m1"].includes(id))).toEqual([]);
  const parts: unknown[] = [];
  for await (const part of readDamaged(space, conv("a"), 0)) parts.push("id" in part ? part.id : part);
  expect(parts).toEqual(["a-root", "m1", { fromSeq: 3, toSeq: 3 }, "m3", "m4", "m5"]);
  const later = await space.read({ conversation: conv("a"), after: 3, limit: 9 });
  expect(later.map(({ id }) => id)).toEqual(["m3", "m4", "m5"]);
  await expect(space.page({ conversation: conv("a"), limit: 9 })).rejects.toMatchObject({ code: "damaged" });
  const found = await space.check({ repair: false });
  expect(found).toMatchObject([{ conversation: "a", severity: "damage", reachableSeq: 2 }]);
  const append = rig.append(space, "a", [user("six", "m6")]);
  if (given.appends) await append;
  else await expect(append).rejects.toMatchObject({ code: "damaged" });
}
