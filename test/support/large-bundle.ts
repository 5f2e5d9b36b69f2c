/**
 * A process that fills a conversation of a given size, with a fork and images, exports both, imports that into another store and
 * exports it again; then it is given hostile files. It prints what it took.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { getHeapStatistics } from "node:v8";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { user } from "#log/message";
import { openHoldfast } from "#open";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { bundleFile } from "#transfer/bundles/open-import";
import { importBundle } from "#transfer/bundles/import-bundle";

const [folder = "", megabytesText = "1", kind = "sqlite"] = process.argv.slice(2);
const megabytes = Number(megabytesText);
const ENTRIES_PER_MB = 64;
const BLOB_EVERY_MB = 5;

function textOf(mb: number): string {
  const words = createHash("sha512").update(String(mb)).digest("base64");
  return words.repeat(Math.floor(16_200 / words.length));
}

/** A megabyte after another: words in batches, an image now and then. */
async function fill(chat: Conversation): Promise<void> {
  for (let mb = 0; mb < megabytes; mb++) {
    const text = textOf(mb);
    if (mb % BLOB_EVERY_MB === 0) {
      const blob = await chat.putBlob(Buffer.alloc(786_432, text));
      await chat.append(user([{ type: "image", mediaType: "image/png", blob }]), { durability: "relaxed" });
    } else
      await chat.append(
        Array.from({ length: ENTRIES_PER_MB }, (_, n) => user(`${n} ${text}`)),
        { durability: "relaxed" },
      );
  }
}

function address(name: string): string {
  return kind === "sqlite" ? `sqlite:${join(folder, `${name}.db`)}` : `jsonl:${join(folder, name)}`;
}

const seconds: Record<string, number> = {};
async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const done = await work();
  seconds[what] = Math.round(performance.now() - started) / 1_000;
  return done;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

/** Files without end, or all but that; each made as it is read. */
const hostile: Readonly<Record<string, () => Generator<string>>> = {
  *oneLine() {
    yield '{"type":"holdfast","v":2,"conversation":"x"}\n{"id":"a","type":"';
    for (let n = 0; n < megabytes * 4; n++) yield "x".repeat(1_048_576);
  },
  *nested() {
    yield '{"type":"holdfast","v":2,"conversation":"x"}\n{"id":"a","type":"custom","data":';
    for (let n = 0; n < 30; n++) yield "[".repeat(1_048_576);
    yield "\n";
  },
  *rubbish() {
    yield '{"type":"holdfast","v":2,"conversation":"x"}\n';
    for (;;) yield "{}\n".repeat(10_000);
  },
  *noBatchEnds() {
    yield '{"type":"holdfast","v":2,"conversation":"large","links":"own"}\n';
    yield '{"id":"e0","type":"conversation"}\n';
    for (let n = 0; n < megabytes * ENTRIES_PER_MB; n++)
      yield `${JSON.stringify({ id: `e${n + 1}`, ...user(textOf(n)) })}\n`;
  },
  *logs() {
    yield '{"type":"holdfast","v":2,"conversations":1000000}\n';
    for (let n = 0; ; n++) yield `{"type":"log","conversation":"c${n}"}\n`;
  },
};

async function refusalOf(holdfast: Holdfast, made: () => Generator<string>): Promise<string> {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of made()) yield Buffer.from(piece);
  };
  try {
    await importBundle(holdfast, { name: "hostile", chunks: pieces }, { asNew: true });
    return "taken";
  } catch (error) {
    return isLogError(error) ? error.code : String(error);
  }
}

const exportedAt = "2026-01-01T12:00:00.000Z";
const [first, second] = [join(folder, "first.jsonl"), join(folder, "second.jsonl")];
{
  await using source = await openHoldfast({ store: address("source") });
  const chat = await source.create({ id: "large" });
  await timed("fill", () => fill(chat));
  const fork = await chat.fork({ id: "fork" });
  await fork.append({ type: "title", title: "A fork" });
  const bytes = exportBundle(source, ["large"], { withForks: true, exportedAt });
  await timed("export", () => pipeline(Readable.from(bytes), createWriteStream(first)));
}
await using target = await openHoldfast({ store: address("target") });
const { conversations } = await timed("import", () => importBundle(target, bundleFile(first)));
const again = exportBundle(target, ["large", "fork"], { exportedAt });
await timed("again", () => pipeline(Readable.from(again), createWriteStream(second)));
const refused: Record<string, string> = {};
for (const [name, made] of Object.entries(hostile))
  refused[name] = await timed(name, () => refusalOf(target, made));
console.log(
  JSON.stringify({
    bytes: statSync(first).size,
    entries: conversations.map(({ entries }) => entries),
    same: (await digestOf(first)) === (await digestOf(second)),
    refused,
    conversations: (await target.listPage()).conversations.length,
    seconds,
    maxRssMb: Math.round(process.resourceUsage().maxRSS / 1_024),
    heapLimitMb: Math.round(getHeapStatistics().heap_size_limit / 1_048_576),
  }),
);
