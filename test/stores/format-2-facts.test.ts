/** Goal: what format 2 added means the same in every store, and after it was opened again. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepImages, withImages } from "#conversation/image-blobs";
import { decodeEntry } from "#log/codec";
import type { ContentBlock } from "#log/message";
import { metadataOf } from "#log/summary";
import { openHoldfast } from "#open";
import { tempDir } from "../support/temp-dir.ts";
import { user } from "../support/a-log.ts";

test.each(["sqlite", "jsonl"])(
  "%s: a new folder, metadata and answers are there when it is opened again",
  async (kind) => {
    using folder = tempDir();
    const store = `${kind}:${join(folder.path, "store")}`;
    {
      await using holdfast = await openHoldfast({ store });
      const chat = await holdfast.create({ id: "c", cwd: "/begun" });
      await using owner = await chat.own({ writer: "w", leaseMs: 0 });
      await owner.append([user("q", "q"), { type: "permission", request: "p" }]);
      await chat.appendOutside([
        { type: "permission_answer", request: "p", outcome: "denied" },
        { type: "metadata", metadata: { archived: true } },
      ]);
      await owner.append({ type: "cwd", cwd: "/moved" });
    }
    await using holdfast = await openHoldfast({ store });
    const chat = await holdfast.conversation("c");
    const { cwd, leaf } = await chat.head();
    expect([cwd, leaf.id]).toEqual(["/moved", "q"]);
    expect(await Array.fromAsync(holdfast.list(), (listed) => listed.cwd)).toEqual(["/moved"]);
    const entries = await Array.fromAsync(chat.log(), (stored) => decodeEntry(stored));
    expect(metadataOf(entries)).toEqual({ archived: true });
    await expect(chat.appendOutside({ type: "cwd", cwd: "/outside" })).rejects.toMatchObject({
      code: "invalid_request",
    });
  },
);

test("bytes of images, recordings and files become blobs and bytes again; the rest of the block stays", async () => {
  await using holdfast = await openHoldfast({ store: "memory:" });
  const { id } = await holdfast.create({ id: "c" });
  const content: readonly ContentBlock[] = [
    { type: "image", mediaType: "image/png", data: "aW1n", providerMetadata: { a: { b: 1 } } },
    { type: "audio", mediaType: "audio/wav", data: "d2F2" },
    { type: "file", mediaType: "text/plain", data: "dHh0", name: "a.txt" },
    { type: "redactedThinking", data: "b3BhcXVl" },
    { type: "x_video", data: "dmlk" },
  ];
  const kept = await keepImages(holdfast.handle(id), content);
  expect(kept.map((block) => "blob" in block)).toEqual([true, true, true, false, false]);
  expect(JSON.stringify(kept)).not.toMatch(/aW1n|d2F2|dHh0/);
  const whole = await withImages(holdfast.handle(id), kept);
  expect(whole).toHaveLength(content.length);
  for (const [at, block] of content.entries()) expect(whole[at]).toEqual(block);
});
