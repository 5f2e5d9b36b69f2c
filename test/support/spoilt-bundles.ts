import { bundle, entry, fork, header, log, root, says, sealed, single } from "./bundle-lines.ts";
import type { Cases } from "./hostile-bundles.ts";

/** A whole bundle that something was done to, under an end that fits it. */
export function spoilt(whole: string): Cases {
  const lines = whole.trimEnd().split("\n").slice(0, -1);
  const batchEnds = lines.flatMap((line, at) => (line.startsWith('{"type":"batch"') ? [at] : []));
  const [one = 0, two = 0, three = 0] = batchEnds;
  const swapped = [
    ...lines.slice(0, one + 1),
    ...lines.slice(two + 1, three + 1),
    ...lines.slice(one + 1, two + 1),
    ...lines.slice(three + 1),
  ];
  const without = (at: number): string => sealed(lines.toSpliced(at, 1));
  return [
    ["another word under the old links", sealed(lines.map((line) => line.replace('"mine"', '"yours"')))],
    [
      "another time under the old links",
      sealed(lines.map((line) => line.replace(/"time":"20(..)/, '"time":"19$1'))),
    ],
    [
      "another author of a batch",
      sealed(lines.map((line) => line.replace('"byOwner":false', '"byOwner":true'))),
    ],
    [
      "another link",
      sealed(lines.map((line, at) => (at === one ? line.replace(/"link":"./, '"link":"g') : line))),
    ],
    ["batches that were swapped", sealed(swapped)],
    ["a batch that is missing", sealed(lines.toSpliced(one + 1, two - one))],
    [
      "a batch that comes twice",
      sealed([...lines.slice(0, two + 1), ...lines.slice(one + 1, two + 1), ...lines.slice(two + 1)]),
    ],
    ["an end of a batch that is missing", without(three)],
    ["an entry that is missing", without(one - 1)],
    [
      "a conversation that is missing",
      sealed(lines.filter((_, at) => at < lines.findLastIndex((line) => line.startsWith('{"type":"log"')))),
    ],
    [
      "another digest of the whole",
      whole.replace(
        /"digest":"([0-9a-f])([0-9a-f]{63})"\}\n$/,
        (_, first: string, rest: string) => `"digest":"${first === "0" ? "1" : "0"}${rest}"}\n`,
      ),
    ],
    ["another count at the end", whole.replace(/"blobs":1,"digest"/, '"blobs":2,"digest"')],
    ["another title in the beginning of a log", whole.replace('"title":"Root"', '"title":"Toor"')],
  ];
}

/** What is none, or says what no log may say. */
export function others(whole: string): Cases {
  const lines = whole.trimEnd().split("\n");
  return [
    ...[3, 99, "2", null, -1, 1.5, 1e300].map(
      (v) => [`version ${String(v)}`, whole.replace('"v":2', `"v":${JSON.stringify(v)}`)] as const,
    ),
    ["a version that is missing", whole.replace('"v":2,', "")],
    ["nothing", ""],
    ["a header alone", `${lines[0] ?? ""}\n`],
    ["an end alone", `${lines.at(-1) ?? ""}\n`],
    ["an id twice", single(root(), says("m1", "root-0"), says("m1", "root-0"))],
    [
      "an id that was inherited",
      bundle(
        2,
        log("a"),
        root(),
        log("b"),
        fork({ conversation: "a", entry: "root-0", head: 1 }),
        says("root-0", "root-0"),
      ),
    ],
    ["a conversation twice", bundle(2, log("a"), root(), log("a"), root())],
    ["a conversation without entries", bundle(2, log("a"), root(), log("b"))],
    ["an entry of no conversation", bundle(1, root(), log("a"))],
    ["a line behind the end", `${whole}${lines[2] ?? ""}\n`],
    ["a second end", `${whole}${lines.at(-1) ?? ""}\n`],
    ["a type of entry that nobody knows", single(root(), entry("m1", "root-0", { type: "constructor" }))],
    ["a type called __proto__", single(root(), entry("m1", "root-0", { type: "__proto__" }))],
    ["a first entry of another type", single(says("m1", "root-0"))],
    ["a line that is no object", single(root(), "[1,2]")],
    ["a line that is no JSON", single(root(), "\0\0\0")],
    [
      "bytes that are no text",
      Buffer.concat([
        Buffer.from(`${header({ conversation: "hostile" })}\n${root()}\n`),
        Buffer.from([0xff, 0xfe, 0x0a]),
      ]),
    ],
    [
      "a member twice",
      single(root(), says("m1", "root-0").replace('"type":"message"', '"type":"message","type":"title"')),
    ],
  ];
}
