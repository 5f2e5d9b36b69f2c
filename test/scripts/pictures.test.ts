import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Picture, readPng, writePng } from "../../scripts/small-png.ts";
import { ROOT } from "../edges/cli/cli-run.ts";

const FOLDER = join(ROOT, "docs", "pictures");
const BYTES_MAX = 2_500_000; // whoever clones the tree loads them all

test("the docs show every picture there is, and none that is not there", () => {
  const shown = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })]
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .flatMap((text) => [...text.matchAll(/pictures\/([\w-]+\.png)/g)].map(([, name = ""]) => name));
  expect([...new Set(shown)].toSorted()).toEqual(readdirSync(FOLDER).toSorted());
});

test("pictures are PNGs of few colours, and small together", () => {
  const files = readdirSync(FOLDER).map((name) => join(FOLDER, name));
  for (const file of files) expect([...readFileSync(file).subarray(24, 26)]).toEqual([8, 3]); // eight bits, by a table of colours
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(BYTES_MAX);
});

/** As a browser writes them: a filter before each row, three bytes a pixel. */
async function asBrowser({ width, height, pixels }: Picture): Promise<Buffer> {
  const { crc32, deflateSync } = await import("node:zlib");
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (const [at, colour] of pixels.entries())
    rows.writeUIntBE(colour, at * 3 + Math.floor(at / width) + 1, 3);
  const chunk = (name: string, data: Buffer): Buffer => {
    const whole = Buffer.alloc(data.length + 12);
    whole.writeUInt32BE(data.length, 0);
    whole.write(name, 4, "latin1");
    data.copy(whole, 8);
    whole.writeUInt32BE(crc32(whole.subarray(4, data.length + 8)), data.length + 8);
    return whole;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function coloursOf(png: Buffer): readonly number[] {
  const at = png.indexOf("PLTE", 0, "latin1");
  const count = png.readUInt32BE(at - 4) / 3;
  return Array.from({ length: count }, (_, index) => png.readUIntBE(at + 4 + index * 3, 3));
}

test("a picture of many colours keeps those of its grounds exactly, and of the rest what is near", async () => {
  const [width, height] = [60, 40];
  const [page, ribbon] = [0xff_ff_ff, 0xed_f6_f6];
  const pixels = Uint32Array.from({ length: width * height }, (_, at) =>
    at < 800 ? page : at < 1_400 ? ribbon : (at * 2_654_435) & 0xff_ff_ff,
  );
  const read = readPng(await asBrowser({ width, height, pixels }));
  expect(read).toEqual({ width, height, pixels });
  const colours = coloursOf(writePng(read));
  expect(colours.length).toBeLessThanOrEqual(256);
  expect(colours.slice(0, 2)).toEqual([page, ribbon]);
});
