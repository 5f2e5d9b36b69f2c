import { importBundle } from "../../../../src/transfer/bundles/import-bundle.ts";
import { exportBundle } from "../../../../src/transfer/bundles/export-bundle.ts";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "../../../../src/index.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { by, told } from "../raw-requests.ts";
import { fill } from "../example-conversation.ts";
import { handClock, serve } from "../served.ts";

test("a bundle of a running server is that of the library, byte for byte, and is the same conversation elsewhere", async () => {
  using folder = tempDir();
  const clock = handClock();
  await using served = await serve({ store: `sqlite:${join(folder.path, "store.db")}`, clock });
  const { holdfast } = served;
  const conversation = await holdfast.create({ id: "a" });
  await fill(conversation);
  await conversation.fork({ id: "f", at: "m2" });
  const token = await served.token("read");
  const bytes = await served.client(token).exportBundle({ conversation: ["a"], withForks: true });
  const exportedAt = new Date(clock.nowMs()).toISOString();
  const chunks = await Array.fromAsync(exportBundle(holdfast, ["a"], { withForks: true, exportedAt }));
  expect(Buffer.from(bytes).equals(Buffer.concat(chunks))).toBe(true);
  await using other = await openHoldfast({ store: "memory:" });
  const file = {
    name: "bundle",
    chunks: async function* () {
      yield bytes;
    },
  };
  await importBundle(other, file);
  for (const id of ["a", "f"])
    expect(await (await other.conversation(id)).context()).toEqual(
      await (await holdfast.conversation(id)).context(),
    );
  for (const [query, status] of [
    ["conversation=nobodys", 404],
    ["", 400],
    ["conversation=../x", 400],
  ] as const) {
    const response = await served.ask(`/api/bundle?${query}`, by(token));
    expect(await told(response)).toMatchObject({ status });
  }
  const theirs = await served.ask("/api/bundle?conversation=a", by(await served.token("admin", "other")));
  expect(theirs.status).toBe(404);
});
