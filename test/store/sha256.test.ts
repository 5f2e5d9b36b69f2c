import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256, sha256AndBytes } from "#store/sha256";

/** As docs/reference/format.md says it, part by part. */
function plainly(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.from(part).length}:`).update(part);
  return hash.digest("hex");
}

test("the hash of parts is what the format says, short or long, whatever the letters", () => {
  const part = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ maxLength: 20 }));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), fc.nat(3), (parts, long) => {
      const texts = [...parts, "é".repeat(long * 9_000)];
      expect(sha256(texts)).toBe(plainly(texts));
      const { hash, bytes } = sha256AndBytes(texts);
      expect([hash, Buffer.from(bytes).toString()]).toEqual([plainly(texts), texts.at(-1)]);
      const small = sha256AndBytes(parts);
      sha256(texts); // a link is made while the bytes of an entry are still to be written
      expect(Buffer.from(small.bytes).toString()).toBe(parts.at(-1));
      const many = Array.from({ length: 200 }, () => parts).flat();
      expect(sha256(many)).toBe(plainly(many));
    }),
  );
  expect(sha256([""])).toBe(plainly([""]));
});
