/** A vendor of one's own, as docs/internals/custom-agent.md shows it. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Fields, textIn, wordsIn } from "#log/json/json-fields";
import type { EndingTable } from "#turn/rules/classify";
import type { NativeMessage } from "#upstream/upstream";
import { COMMON_ENDINGS } from "#vendors/shared-endings";
import type { NativeSession, NativeStore } from "#vendors/native-store";
import { eachRecord, entriesIn, stampOf } from "#vendors/record-files";
import { type EndingExample, PLAIN_DIALECT, type RecordReader, type Vendor } from "#vendors/vendor";
import type { GoldenRecord } from "#testing/vendors/records-cases";

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
  const dir = join(folder, "notebooks");
  // Ids come from outside: what is no name of a notebook never becomes part of a path.
  const pathOf = (id: string): string | null => (/^[a-z]+$/.test(id) ? join(dir, `${id}.jsonl`) : null);
  const recordsOf = async (id: string): Promise<readonly Fields[]> => {
    const path = pathOf(id);
    const records: Fields[] = [];
    if (path !== null) await eachRecord(path, (record) => records.push(record)).catch(() => undefined);
    return records;
  };
  const messagesIn = (records: readonly Fields[]): readonly NativeMessage[] | null => {
    const reader = notebookReader();
    for (const record of records) reader.add(record);
    return reader.messages().length === 0 ? null : reader.messages();
  };
  const describe = async (id: string): Promise<NativeSession | null> => {
    const records = await recordsOf(id);
    const [head, first] = records;
    const cwd = textIn(head?.["notebook"]);
    if (cwd === null || messagesIn(records) === null) return null;
    return { id, cwd, title: textIn(first?.["text"]), updatedAt: new Date(0).toISOString() };
  };
  return {
    list: async () => {
      const files = (await entriesIn(dir)).filter((entry) => entry.isFile());
      const sessions = await Promise.all(files.map(({ name }) => describe(basename(name, ".jsonl"))));
      return sessions.filter((session) => session !== null);
    },
    read: async (id) => messagesIn(await recordsOf(id)),
    stamp: async (id) => {
      const path = pathOf(id);
      return path === null ? null : stampOf(path);
    },
    remove: async (id) => {
      const path = pathOf(id);
      if (path !== null) await rm(path, { force: true });
    },
  };
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

export const EXAMPLE_GOLDEN: GoldenRecord = {
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
