import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { user } from "./a-log.ts";
import { bundle, entry, fork, header, log, root, says, sealed, single } from "./bundle-lines.ts";

/** A whole bundle that something was done to, under an end that fits it. */
function spoilt(whole: string): Cases {
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
function others(whole: string): Cases {
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

/** A file that somebody made to do harm, or that harm was done to. */
export interface HostileBundle {
  readonly name: string;
  readonly text: string | Uint8Array;
}

/** A family with everything a bundle may have. */
export async function wholeFamily(holdfast: Holdfast): Promise<readonly Conversation[]> {
  const source = await holdfast.create({ id: "root", title: "Root" });
  await source.append([
    user("one", "m1"),
    { type: "seed", id: "s1", run: "r1", messages: [{ role: "system", content: "You" }] },
    { type: "run_start", run: "r1", trigger: "email", seed: "s1", seedCount: 1 },
  ]);
  const blob = await source.putBlob(Buffer.from("an image of some size"));
  const content = [{ type: "image", mediaType: "image/png", blob } as const];
  await source.append({ type: "message", id: "m2", message: { role: "user", content } });
  await source.label("m1", "here");
  const branch = await source.fork({ id: "fork", at: "m2" });
  await branch.append([user("mine", "f1"), user("more", "f2")]);
  return [source, branch];
}

/** Files that must be refused whatever is asked of the import but to salvage them. */
export function hostileBundles(whole: string): readonly HostileBundle[] {
  const all: readonly (readonly [string, string | Uint8Array])[] = [
    ...ids(),
    ...bombs(),
    ...cycles(),
    ...blobs(),
    ...spoilt(whole),
    ...others(whole),
  ];
  return all.map(([name, text]) => ({ name, text }));
}

/** The same means, used well: what is refused above is refused for what it says. */
export function soundBundles(): readonly HostileBundle[] {
  const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const blob = JSON.stringify({ type: "blob", digest, size: 4, offset: 0, data: "dGVzdA==" });
  const origin = { conversation: "a", entry: "m1", head: 2 };
  return [
    { name: "one", text: single(root(), says("m1", "root-0"), blob) },
    {
      name: "two",
      text: bundle(2, log("a"), root(), says("m1", "root-0"), log("b"), fork(origin), says("m2", "m1")),
    },
  ];
}

type Cases = readonly (readonly [string, string | Uint8Array])[];

function ids(): Cases {
  const paths = [
    "../../etc/passwd",
    "..",
    ".hidden",
    "a/b",
    "C:\\x",
    "a\u0000b",
    "-rf",
    "x".repeat(129),
    "",
    "a@b",
    "é",
  ];
  return [
    ...paths.map(
      (id) =>
        [
          `a conversation called ${JSON.stringify(id).slice(0, 30)}`,
          sealed([header({ conversation: id }), root()]),
        ] as const,
    ),
    ...paths.map(
      (id) =>
        [`an entry called ${JSON.stringify(id).slice(0, 30)}`, single(root(), says(id, "root-0"))] as const,
    ),
    ["a conversation in a bundle called by a path", bundle(1, log("../up"), root())],
    ["a parent that is a path", single(root(), says("m1", "../root-0"))],
    ["a target that is a path", single(root(), entry("l1", null, { type: "leaf", target: "../x" }))],
    ["an id that is no text", single(root(), says("m1", "root-0").replace('"m1"', "7"))],
    ["an id of a million characters", single(root(), says("x".repeat(1_000_000), "root-0"))],
  ];
}

function bombs(): Cases {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  return [
    [
      "a payload nested too deep",
      single(
        root(),
        entry("m1", "root-0", { type: "custom", customType: "x", data: 0 }).replace(
          '"data":0',
          `"data":${deep}`,
        ),
      ),
    ],
    ["a header nested too deep", sealed([`{"type":"holdfast","v":2,"conversation":${deep}}`, root()])],
    ["a beginning nested too deep", bundle(1, `{"type":"log","conversation":${deep}}`, root())],
    [
      "an end nested too deep",
      `${header({ conversation: "hostile" })}\n${root()}\n{"type":"end","header":${deep}}\n`,
    ],
    ["a line above the limit", single(root(), says("m1", "root-0", "x".repeat(33_600_000)))],
    ["twelve thousand lines that are nothing", single(root(), ...Array.from({ length: 12_000 }, () => "{}"))],
    ["nothing but line breaks", "\n".repeat(100_000)],
    ["a header that says more conversations than there are", bundle(999_999_999_999_999, log("a"), root())],
    ["a header with a count that is none", sealed([header({ conversations: 1e300 }), log("a"), root()])],
    ["a header with no conversations", bundle(0)],
    [
      "a header that says more entries than there are",
      sealed([header({ conversation: "hostile", entries: 999_999_999_999_999 }), root()]),
    ],
    [
      "a batch that ends far behind",
      single(root(), `{"type":"batch","seq":999999999999999,"link":"${"0".repeat(64)}","byOwner":true}`),
    ],
    [
      "metadata beyond its limit",
      single(root(), entry("x1", null, { type: "metadata", metadata: { a: "x".repeat(5_000) } })),
    ],
    ["10,001 conversations", bundle(10_001, ...Array.from({ length: 10_001 }, (_, n) => log(`c${n}`)))],
  ];
}

function cycles(): Cases {
  const at = (conversation: string, node: string = "root-0", head: unknown = 1): object => ({
    conversation,
    entry: node,
    head,
  });
  return [
    ["an entry that is its own parent", single(root(), says("m1", "m1"))],
    ["entries that are each other's parents", single(root(), says("m1", "m2"), says("m2", "m1"))],
    ["a root that has a parent", single(root().replace("null", '"root-0"'))],
    ["two roots", single(root(), entry("root-1", null, { type: "conversation" }))],
    ["a fork of itself", bundle(1, log("a"), fork(at("a", "fork-0")))],
    [
      "two conversations that are forks of each other",
      bundle(2, log("a"), fork(at("b", "fork-1")), log("b"), fork(at("a", "fork-0"), "fork-1")),
    ],
    ["a fork before its source", bundle(2, log("b"), fork(at("a")), log("a"), root())],
    ["a fork of what is not there", bundle(2, log("a"), root(), log("b"), fork(at("elsewhere")))],
    ["a fork of a node that is not there", bundle(2, log("a"), root(), log("b"), fork(at("a", "gone")))],
    [
      "a fork of a fact",
      bundle(
        2,
        log("a"),
        root(),
        entry("t1", null, { type: "title", title: "T" }),
        log("b"),
        fork(at("a", "t1", 2)),
      ),
    ],
    ...[0, -1, 2, 1.5, 1e300, "1", null].map(
      (head) =>
        [
          `a fork that sees ${String(head)} entries of one`,
          bundle(2, log("a"), root(), log("b"), fork(at("a", "root-0", head))),
        ] as const,
    ),
    [
      "a fork that sees less than it grows from",
      bundle(2, log("a"), root(), says("m1", "root-0"), log("b"), fork(at("a", "m1", 1))),
    ],
    ["a fork whose origin is no origin", bundle(2, log("a"), root(), log("b"), fork("a"))],
    [
      "a fork with more than forks have",
      bundle(
        2,
        log("a"),
        root(),
        log("b"),
        entry("f", null, { type: "conversation", origin: at("a"), more: 1 }),
      ),
    ],
    ["a fork in a file of its own", single(fork(at("root")))],
  ];
}

function blobs(): Cases {
  const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"; // of "test"
  const line = (more: object): string =>
    JSON.stringify({ type: "blob", digest, size: 4, offset: 0, data: "dGVzdA==", ...more });
  const large = Buffer.alloc(300_000).toString("base64");
  return [
    ["a blob that says it is small", single(root(), line({ data: large }))],
    ["a blob that says it is larger", single(root(), line({ size: 5 }))],
    ["a blob that says it is huge", single(root(), line({ size: 999_999_999_999_999 }))],
    ["a blob beyond the limit", single(root(), line({ size: 1_073_741_825 }))],
    ["a blob of other bytes", single(root(), line({ data: "dGVzZA==" }))],
    ["a blob called by a path", single(root(), line({ digest: "../../../etc/passwd" }))],
    ["a blob with a negative place", single(root(), line({ offset: -4 }))],
    ["a piece without the one before it", single(root(), line({ offset: 2 }))],
    ["a blob whose size is a text", single(root(), line({ size: "4" }))],
    ["a blob with more members", single(root(), line({ more: 1 }))],
    ["a blob that is cut off by the next", single(root(), line({ size: 8 }), line({}))],
    ["a blob before any conversation", bundle(1, line({}), log("a"), root())],
  ];
}
