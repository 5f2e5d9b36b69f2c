/** Pictures of flat colours as small files: at most 256 colours, which is what such a page has but for the rims of letters. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, as one number. */
  readonly pixels: Uint32Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;
/** The grounds of a page: a tint that is near to another one has a meaning of its own. */
const KEPT = 96;
/** Squared distances below which two colours may be taken for one, tried until the colours fit. */
const NEAR = [0, 6, 12, 24, 48, 96, 192, 384, 768, 3_000, 12_000];

function* chunksOf(png: Buffer): Generator<readonly [string, Buffer]> {
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    yield [png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)];
    at += length + 12;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** What a byte was guessed from, by the filter of its row. */
function guessed(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  return filter === 4 ? paeth(left, up, corner) : 0;
}

/** Reads what a browser makes: eight bits a channel, with or without an alpha that is of no use here. */
export function readPng(png: Buffer): Picture {
  const chunks = [...chunksOf(png)];
  const head = chunks.find(([name]) => name === "IHDR")?.[1];
  if (head === undefined || head[8] !== 8 || (head[9] !== 2 && head[9] !== 6) || head[12] !== 0)
    throw new Error("This is no PNG of eight bits a channel");
  const [width, height, channels] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3];
  const packed = inflateSync(
    Buffer.concat(chunks.flatMap(([name, data]) => (name === "IDAT" ? [data] : []))),
  );
  const stride = width * channels;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = packed[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (rows[at - channels] ?? 0);
      const up = y === 0 ? 0 : (rows[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (rows[at - stride - channels] ?? 0);
      rows[at] = (packed[at + y + 1] ?? 0) + guessed(filter, left, up, corner);
    }
  }
  const pixels = Uint32Array.from({ length: width * height }, (_, at) => rows.readUIntBE(at * channels, 3));
  return { width, height, pixels };
}

function distance(one: number, other: number): number {
  const [red, green, blue] = [16, 8, 0].map((shift) => ((one >> shift) & 255) - ((other >> shift) & 255));
  return (red ?? 0) ** 2 + (green ?? 0) ** 2 + (blue ?? 0) ** 2;
}

/** The colours that are kept: the most used first, and none that is near to one before it. */
function paletteOf(byUse: readonly number[]): readonly number[] {
  for (const near of NEAR) {
    const kept: number[] = [];
    for (const colour of byUse) {
      if (kept.length >= KEPT && kept.some((one) => distance(one, colour) <= near)) continue;
      kept.push(colour);
      if (kept.length > COLOURS_MAX) break;
    }
    if (kept.length <= COLOURS_MAX) return kept;
  }
  return byUse.slice(0, COLOURS_MAX);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

export function writePng({ width, height, pixels }: Picture): Buffer {
  const uses = new Map<number, number>();
  for (const colour of pixels) uses.set(colour, (uses.get(colour) ?? 0) + 1);
  const byUse = [...uses].toSorted(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = paletteOf(byUse);
  const nearest = new Map(
    byUse.map((colour) => {
      const far = palette.map((one) => distance(one, colour));
      return [colour, far.indexOf(Math.min(...far))];
    }),
  );
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, colour] of pixels.entries())
    rows[at + Math.floor(at / width) + 1] = nearest.get(colour) ?? 0;
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 3, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const colours = Buffer.from(palette.flatMap((one) => [one >> 16, (one >> 8) & 255, one & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", head),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
