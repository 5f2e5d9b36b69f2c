/**
 * Feeds every parser of text from outside with growing input and prints how many steps each took: blocks of our own code that ran,
 * as V8 counts them, and the characters that searches of the platform passed over. Regular expressions are judged by the linter.
 */
import { Session } from "node:inspector/promises";
import type { Conversation } from "#conversation/conversation";

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

let passed = 0;

/** Counts the places that a search looks at, from where it begins to what it finds. */
function countSearches(prototype: object, name: "indexOf" | "includes" | "split" | "replaceAll"): void {
  const search = Reflect.get(prototype, name) as (this: Searched, ...args: unknown[]) => unknown;
  Reflect.set(prototype, name, function (this: Searched, ...args: unknown[]) {
    const found = search.apply(this, args);
    const from = typeof args[1] === "number" ? args[1] : 0;
    passed += (typeof found === "number" && found >= 0 ? found : this.length) - from + 1;
    return found;
  });
}
interface Searched {
  readonly length: number;
}

// What lies in a module that was loaded before is not counted.
const { checkJsonObject, itemsOf, membersOf, withMember } = await import("#log/json/json-text");
const { readJson } = await import("#log/json/read-json");
const { parseBody } = await import("#log/body");
const { secretsIn } = await import("#log/secrets");
const { visibleTextOf } = await import("#log/secrets");
const { wordSpans, queryWords, foldText } = await import("#log/search");
const { possibleBlobs } = await import("#log/blob-names");
const { redactPayload } = await import("#transfer/redact-text");
const { Redactor } = await import("#transfer/redactor");
const { readLines } = await import("#transfer/bundles/read-lines");
const { safeText } = await import("#transfer/views/safe-text");
const { holdfastJsonl } = await import("#transfer/bundles/importers");
const { sessionLog } = await import("#transfer/bundles/importers");
const { shortLine } = await import("#operations/views/cut-strings");
const { readMessage, readableAt } = await import("#edges/acp/wire/spans");
const { LineSplitter } = await import("#edges/acp/wire/line-splitter");
const { rewriteIds } = await import("#edges/acp/wire/splice");
const { readEvents } = await import("#edges/http/client/read-events");
const { readFrontmatter } = await import("#agent/skills/skill-file");
const { escapeTags } = await import("#agent/prompt/prompt-sections");
const { parseConversationId, parseEntryId } = await import("#log/ids");

const repeat = (count: number, part: (index: number) => string, between: string = ","): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(between);

const TEXTS: { readonly [name: string]: (count: number) => string } = {
  "many fields": (count) => `{${repeat(count, (index) => `"a${index}":${index}`)}}`,
  "many fields with escapes": (count) => `{${repeat(count, (index) => `"\\u0061\\n${index}":"\\n"`)}}`,
  "one field many times": (count) => `{${repeat(count, () => '"a":1')}}`,
  "fields that look like aliases": (count) =>
    `{"\\n":0,${repeat(count, (index) => `"~${index}~":1`)},"\\u007e":1}`,
  "fields of tildes": (count) =>
    `{"\\n":0,${repeat(Math.sqrt(20 * count), (index) => `"${"~".repeat(index)}":1`)}}`,
  "many items": (count) => `{"a":[${repeat(count, String)}]}`,
  "deep lists": (count) => `{"a":${"[".repeat(count)}${"]".repeat(count)}}`,
  "deep objects": (count) => `${'{"a":'.repeat(count)}1${"}".repeat(count)}`,
  "quotes and backslashes": (count) => JSON.stringify({ a: '\\"'.repeat(count), b: "\\".repeat(count) }),
  "colons in a text": (count) => JSON.stringify({ "a\n": '":"'.repeat(count) }),
  spaces: (count) => `{"a"${" ".repeat(count)}:${" ".repeat(count)}1${" ".repeat(count)}}`,
  "a long number": (count) => `{"a":1${"0".repeat(count)}1,"b":0.${"0".repeat(count)}1}`,
  "mail addresses": (count) => JSON.stringify({ a: `a@a.${"a@".repeat(count)}`, b: "a.".repeat(count) }),
  "what begins like secrets": (count) =>
    JSON.stringify({ a: "sk-password: token=".repeat(count), b: "A".repeat(count), c: "eyJ.".repeat(count) }),
  "angle brackets": (count) => JSON.stringify({ a: "<".repeat(count) + " ".repeat(count) }),
  "escapes of terminals": (count) =>
    JSON.stringify({ a: "\u001b[".repeat(count), b: "\u200d".repeat(count) }),
  "names of blobs": (count) =>
    `{"a":[${repeat(count / 50, (index) => `"${index.toString(16).padStart(64, "0")}"`)}]}`,
  lines: (count) => `{\n${repeat(count, (index) => `"a${index}": 1`, ",\n")}\n}`,
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function stringsIn(text: string): readonly string[] {
  const value = JSON.parse(text) as Record<string, unknown>;
  return Object.values(value).filter((one) => typeof one === "string");
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) void item;
}

const PIECE = 512;
async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const all = bytes(text);
  for (let at = 0; at < all.length; at += PIECE) yield all.subarray(at, at + PIECE);
}

const place = { id: parseEntryId("e"), seq: 1, type: "message" } as const;
const conversation = parseConversationId("c");

const withSecrets = {
  id: conversation,
  getBlob: async () => bytes("password: hunter2hunter2!"),
} as Partial<Conversation> as Conversation;

const PARSERS: { readonly [name: string]: (text: string) => unknown } = {
  membersOf,
  itemsOf: (text) => itemsOf(`[${text}]`),
  withMember: (text) => withMember(text, ["z", "y"], "1"),
  readJson: (text) => readJson(text),
  checkJsonObject,
  parseBody: (text) => parseBody(`{"type":"custom","customType":"a","data":${text}}`),
  "parseBody, fields of its own": (text) =>
    parseBody(text.replace("{", '{"type":"custom","customType":"a",')),
  redactPayload: (text) => redactPayload(conversation, { ...place, payload: text }, { emails: true }),
  "an entry whose blobs hold secrets": (text) => {
    const redactor = new Redactor({ onHit: () => undefined, onUnread: () => undefined });
    return redactor.entry(withSecrets, { ...place, v: 2, parentId: null, time: "", payload: text });
  },
  secretsIn: (text) => stringsIn(text).map((one) => secretsIn(one)),
  visibleTextOf: (text) => stringsIn(text).map((one) => visibleTextOf(one)),
  safeText: (text) => stringsIn(text).map((one) => safeText(one)),
  escapeTags: (text) => stringsIn(text).map((one) => escapeTags(one)),
  possibleBlobs,
  search: (text) => wordSpans(foldText(text), queryWords(text.slice(0, 64))),
  "lines of a file": (text) => drain(readLines(pieces(`${text}\n`))),
  "lines of an agent": async (text) => {
    const splitter = new LineSplitter(1_000_000_000);
    for await (const piece of pieces(`${text}\n`)) Array.from(splitter.push(piece));
  },
  "a message of an agent": (text) => {
    const message = readMessage(
      bytes(`{"jsonrpc":"2.0","method":"a","params":${text.replaceAll("\n", " ")}}`),
    );
    if (message === null || message.params === null) return;
    readableAt(message.bytes, message.params);
    rewriteIds(message, "one", "other");
  },
  "events of a server": async (text) =>
    drain(readEvents(ReadableStream.from(pieces(`event: a\ndata: ${text.replaceAll("\n", "\n\n")}\n\n`)))),
  "a session log": (text) => {
    const reader = sessionLog.begin('{"type":"session","version":1,"id":"s"}');
    reader?.read(text.replace("{", '{"type":"custom","id":"e","parentId":"s",'));
  },
  "a bundle": (text) => {
    const reader = holdfastJsonl.begin('{"type":"holdfast","v":2,"conversations":1}');
    reader?.read(text.replace("{", '{"type":"custom","id":"e","parentId":"s",'));
  },
  "an entry with its texts cut": (text) =>
    shortLine({ ...place, v: 2, parentId: null, time: "", payload: text }, 16),
  frontmatter: (text) => readFrontmatter(`---\nname: a\ndescription: ${text.slice(0, 8_000)}\n---\n`),
};

for (const prototype of [String.prototype, Array.prototype, Uint8Array.prototype]) {
  countSearches(prototype, "indexOf");
  countSearches(prototype, "includes");
}
countSearches(String.prototype, "split");
countSearches(String.prototype, "replaceAll");

async function stepsOf(run: () => unknown): Promise<number> {
  await session.post("Profiler.takePreciseCoverage"); // what was counted before goes
  passed = 0;
  try {
    await run();
  } catch {
    // A refusal is an answer, and takes steps too.
  }
  const searched = passed;
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes("/src/"))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((steps, { count }) => steps + count, searched);
}

const SMALL = 5_000; // above the length from which nesting is checked
const GROWTH = 8;
for (const [parser, parse] of Object.entries(PARSERS))
  for (const [name, text] of Object.entries(TEXTS)) {
    const [small, large] = [text(SMALL), text(SMALL * GROWTH)];
    await stepsOf(() => parse(small)); // what is made once is made
    const steps =
      (await stepsOf(() => parse(large))) / Math.max(small.length, await stepsOf(() => parse(small)));
    process.stdout.write(
      `${JSON.stringify({ parser, text: name, growth: steps / (large.length / small.length) })}\n`,
    );
  }
