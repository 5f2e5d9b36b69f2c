/** A vendor of one's own, as docs/guides/own-agent.md shows it. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Fields, parseFields, textIn, wordsIn } from "#log/json/json-fields";
import type { EndingTable } from "#sending/rules/classify";
import type { NativeMessage } from "#sending/upstream";
import { COMMON_ENDINGS } from "#vendors/endings/shared-endings";
import type { NativeSession, NativeStore } from "#vendors/records/native-store";
import { type EndingExample, PLAIN_DIALECT, type RecordReader, type Vendor } from "#vendors/vendor";
import type { Golden } from "./golden.ts";

// Its own words first; what services and networks say comes through any agent.
const ENDINGS: EndingTable = [
  { on: "text", like: /the well is dry until/i, class: "limit" },
  { on: "kind", is: ["no_such_notebook"], class: "lost" },
  ...COMMON_ENDINGS,
];

const EXAMPLES: readonly EndingExample[] = [
  ["limit", "The well is dry until tomorrow"],
  ["lost", "Internal error", -32603, { kind: "no_such_notebook" }],
];

/** One line per message: `{"who": "me" | "you", "text": …, "at": …}`, after a line that names the folder. */
function notebookReader(): RecordReader {
  const messages: NativeMessage[] = [];
  return {
    add: (record: Fields) => {
      const role = record["who"] === "me" ? "user" : record["who"] === "you" ? "assistant" : null;
      if (role === null) return;
      const content = [{ type: "text", text: wordsIn(record["text"]) } as const];
      messages.push({ id: null, time: textIn(record["at"]), message: { role, content } });
    },
    messages: () => messages,
  };
}

function notebooks(folder: string): NativeStore {
  const pathOf = (id: string): string | null =>
    /^[a-z]+$/.test(id) ? join(folder, "notebooks", `${id}.jsonl`) : null;
  const recordsOf = async (id: string): Promise<readonly Fields[] | null> => {
    const path = pathOf(id);
    const text = path === null ? null : await readFile(path, "utf8").catch(() => null);
    return text === null
      ? null
      : text
          .split("\n")
          .map(parseFields)
          .filter((record) => record !== null);
  };
  const read = async (id: string): Promise<readonly NativeMessage[] | null> => {
    const records = await recordsOf(id);
    const reader = notebookReader();
    for (const record of records ?? []) reader.add(record);
    return records === null ? null : reader.messages();
  };
  const stamp = async (id: string): Promise<string | null> => {
    const path = pathOf(id);
    const file = path === null ? null : await stat(path).catch(() => null);
    return file === null ? null : `${file.size}-${file.mtimeMs}`;
  };
  const list = async (): Promise<readonly NativeSession[]> => {
    const names = await readdir(join(folder, "notebooks")).catch(() => []);
    return Promise.all(
      names.map(async (name) => {
        const id = basename(name, ".jsonl");
        const [head, first] = (await recordsOf(id)) ?? [];
        const cwd = textIn(head?.["notebook"]);
        return { id, cwd, title: textIn(first?.["text"]), updatedAt: new Date(0).toISOString() };
      }),
    );
  };
  return { list, read, stamp };
}

export const EXAMPLE_VENDOR: Vendor = {
  name: "scribe",
  endings: ENDINGS,
  examples: EXAMPLES,
  dialect: { ...PLAIN_DIALECT, windowTokens: 32_000, clears: ["forget"] },
  records: {
    folder: ".scribe",
    variable: "SCRIBE_HOME",
    fileName: "a notebook of Scribe",
    open: notebooks,
    isRecord: (line) => "notebook" in line,
    reader: notebookReader,
  },
};

export const EXAMPLE_GOLDEN: Golden = {
  vendor: "scribe",
  id: "rent",
  file: [
    "notebooks/rent.jsonl",
    [
      '{"notebook":"/home/user/project"}',
      '{"who":"me","text":"What is the rent?","at":"2026-01-02T03:04:05.000Z"}',
      '{"who":"you","text":"650 a month.","at":"2026-01-02T03:04:06.000Z"}',
    ].join("\n"),
  ],
  cwd: "/home/user/project",
  title: "What is the rent?",
  messages: 2,
  first: "user: What is the rent?",
  last: "assistant: 650 a month.",
};
