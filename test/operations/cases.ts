import type { OperationName } from "#operations/table";
import type { Lease } from "./seeded-space.ts";

/** One use of an operation, through every way there is. */
export interface Case {
  readonly operation: OperationName;
  readonly name: string;
  readonly input: object;
  /** The same as a command line; absent where no command does it. */
  readonly argv?: readonly string[];
  readonly stdin?: string;
  /** The field that holds what the command prints line by line. */
  readonly rows?: string;
  readonly key?: string;
  readonly lease?: Lease;
  /** The code of the error; absent where it succeeds. */
  readonly fails?: string;
}

const MISSING = "conversation_not_found";
const INVALID = "invalid_request";
const MODEL = { type: "model_change", model: "example-2" };
const TITLE = { type: "title", title: "Other" };
const lines = (...entries: readonly object[]): string =>
  entries.map((one) => `${JSON.stringify(one)}\n`).join("");

export const CASES: readonly Case[] = [
  {
    operation: "listConversations",
    name: "finds one by the start of its id",
    input: { prefix: "a" },
    argv: ["ls", "a"],
    rows: "conversations",
  },
  {
    operation: "listConversations",
    name: "counts failed and unfinished turns as unclean",
    input: { status: "unclean" },
    argv: ["ls", "--status", "unclean"],
    rows: "conversations",
  },
  {
    operation: "listConversations",
    name: "has nothing that works",
    input: { status: "live" },
    argv: ["ls", "--status", "live"],
    rows: "conversations",
  },
  {
    operation: "listConversations",
    name: "knows no such status",
    input: { status: "fine" },
    argv: ["ls", "--status", "fine"],
    fails: INVALID,
  },
  { operation: "getConversation", name: "shows one", input: { conversation: "a" } },
  { operation: "getConversation", name: "shows a turn that nothing runs", input: { conversation: "open" } },
  {
    operation: "getConversation",
    name: "finds no such conversation",
    input: { conversation: "none" },
    fails: MISSING,
  },
  {
    operation: "createConversation",
    name: "takes an id and a title",
    input: { id: "new", title: "New" },
    argv: ["new", "--id", "new", "--title", "New"],
  },
  { operation: "createConversation", name: "makes one under a key", input: {}, argv: ["new"], key: "k" },
  {
    operation: "createConversation",
    name: "refuses an id that is taken",
    input: { id: "a" },
    argv: ["new", "--id", "a"],
    fails: "conversation_exists",
  },
  {
    operation: "createConversation",
    name: "refuses what is no id",
    input: { id: "../a" },
    argv: ["new", "--id", "../a"],
    fails: INVALID,
  },
  {
    operation: "createConversation",
    name: "refuses a long title",
    input: { title: "t".repeat(2_001) },
    argv: ["new", "--title", "t".repeat(2_001)],
    fails: INVALID,
  },
  {
    operation: "setTitle",
    name: "sets it",
    input: { conversation: "a", title: "Second" },
    argv: ["title", "a", "Second"],
    key: "k",
  },
  {
    operation: "setTitle",
    name: "sets it after the writer died",
    input: { conversation: "a", title: "Second" },
    argv: ["title", "a", "Second"],
    lease: "dead",
  },
  {
    operation: "setTitle",
    name: "refuses a long one",
    input: { conversation: "a", title: "t".repeat(2_001) },
    argv: ["title", "a", "t".repeat(2_001)],
    fails: INVALID,
  },
  {
    operation: "setTitle",
    name: "finds no such conversation",
    input: { conversation: "none", title: "x" },
    argv: ["title", "none", "x"],
    fails: MISSING,
  },
  {
    operation: "setMetadata",
    name: "sets a tag",
    input: { conversation: "a", metadata: { tags: ["work"] } },
  },
  {
    operation: "setMetadata",
    name: "refuses a list",
    input: { conversation: "a", metadata: [] },
    fails: INVALID,
  },
  {
    operation: "fork",
    name: "forks at an entry",
    input: { conversation: "a", at: "ask", id: "second" },
    argv: ["fork", "a@ask", "--id", "second"],
  },
  {
    operation: "fork",
    name: "refuses an id that is taken",
    input: { conversation: "a", id: "failed" },
    argv: ["fork", "a", "--id", "failed"],
    fails: "conversation_exists",
  },
  {
    operation: "fork",
    name: "finds no such entry",
    input: { conversation: "a", at: "none" },
    argv: ["fork", "a@none"],
    fails: "entry_not_found",
  },
  {
    operation: "goTo",
    name: "goes to an entry",
    input: { conversation: "a", entry: "ask" },
    argv: ["goto", "a@ask"],
    key: "k",
  },
  {
    operation: "goTo",
    name: "goes on after the writer died",
    input: { conversation: "a", entry: "ask" },
    argv: ["goto", "a@ask"],
    lease: "dead",
  },
  {
    operation: "goTo",
    name: "waits for no writer that runs",
    input: { conversation: "a", entry: "ask" },
    argv: ["goto", "a@ask"],
    lease: "alive",
    fails: "busy",
  },
  {
    operation: "goTo",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none" },
    argv: ["goto", "a@none"],
    fails: "entry_not_found",
  },
  {
    operation: "goTo",
    name: "finds no such conversation",
    input: { conversation: "none", entry: "ask" },
    argv: ["goto", "none@ask"],
    fails: MISSING,
  },
  {
    operation: "newChat",
    name: "starts empty",
    input: { conversation: "a" },
    argv: ["new-chat", "a"],
    key: "k",
  },
  {
    operation: "newChat",
    name: "starts empty after the writer died",
    input: { conversation: "a" },
    argv: ["new-chat", "a"],
    lease: "dead",
  },
  {
    operation: "newChat",
    name: "waits for no writer that runs",
    input: { conversation: "a" },
    argv: ["new-chat", "a"],
    lease: "alive",
    fails: "busy",
  },
  {
    operation: "newChat",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["new-chat", "none"],
    fails: MISSING,
  },
  { operation: "listEntries", name: "lists the log", input: { conversation: "a", limit: 2 } },
  {
    operation: "listEntries",
    name: "refuses both ends",
    input: { conversation: "a", after: 1, before: 2 },
    fails: INVALID,
  },
  { operation: "listHistory", name: "lists the branch", input: { conversation: "a", types: ["message"] } },
  {
    operation: "listHistory",
    name: "knows no such type",
    input: { conversation: "a", types: ["nothing"] },
    fails: INVALID,
  },
  {
    operation: "listBranch",
    name: "lists a stretch",
    input: { conversation: "a", at: "ask", limit: 1, textMax: 5 },
  },
  {
    operation: "listBranch",
    name: "refuses no limit",
    input: { conversation: "a", limit: 0 },
    fails: INVALID,
  },
  { operation: "getEntry", name: "shows one", input: { conversation: "a", entry: "ask" } },
  {
    operation: "getEntry",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none" },
    fails: "entry_not_found",
  },
  {
    operation: "getContext",
    name: "is what the model is sent",
    input: { conversation: "a" },
    argv: ["context", "a"],
  },
  {
    operation: "getContext",
    name: "is as it was",
    input: { conversation: "a", at: "ask" },
    argv: ["context", "a@ask"],
  },
  {
    operation: "getContext",
    name: "finds no such conversation",
    input: { conversation: "none" },
    argv: ["context", "none"],
    fails: MISSING,
  },
  {
    operation: "appendEntries",
    name: "appends a batch",
    input: { conversation: "a", entries: [MODEL, TITLE] },
    argv: ["append", "a"],
    stdin: lines(MODEL, TITLE),
    key: "k",
  },
  {
    operation: "appendEntries",
    name: "appends after the writer died",
    input: { conversation: "a", entries: [MODEL] },
    argv: ["append", "a"],
    stdin: lines(MODEL),
    lease: "dead",
  },
  {
    operation: "appendEntries",
    name: "disturbs no writer from outside",
    input: { conversation: "a", entries: [TITLE], outside: true },
    argv: ["append", "a", "--outside"],
    stdin: lines(TITLE),
    lease: "alive",
  },
  {
    operation: "appendEntries",
    name: "waits for no writer that runs",
    input: { conversation: "a", entries: [MODEL] },
    argv: ["append", "a"],
    stdin: lines(MODEL),
    lease: "alive",
    fails: "busy",
  },
  {
    operation: "appendEntries",
    name: "refuses a guard from outside",
    input: { conversation: "a", entries: [TITLE], outside: true, expected: 1 },
    argv: ["append", "a", "--outside", "--expect", "1"],
    stdin: lines(TITLE),
    fails: INVALID,
  },
  {
    operation: "appendEntries",
    name: "refuses an entry without a type",
    input: { conversation: "a", entries: [{}] },
    fails: INVALID,
  },
  {
    operation: "setLabel",
    name: "labels an entry",
    input: { conversation: "a", entry: "ask", label: "first" },
    argv: ["label", "a@ask", "first"],
    key: "k",
  },
  {
    operation: "setLabel",
    name: "takes the label away",
    input: { conversation: "a", entry: "ask", label: null },
    argv: ["label", "a@ask", "--clear"],
  },
  {
    operation: "setLabel",
    name: "refuses a blank one",
    input: { conversation: "a", entry: "ask", label: " " },
    argv: ["label", "a@ask", " "],
    fails: INVALID,
  },
  {
    operation: "setLabel",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none", label: "x" },
    argv: ["label", "a@none", "x"],
    fails: "entry_not_found",
  },
  {
    operation: "setHidden",
    name: "hides an entry",
    input: { conversation: "a", entry: "ask", hidden: true },
    argv: ["hide", "a@ask"],
    key: "k",
  },
  {
    operation: "setHidden",
    name: "shows it again",
    input: { conversation: "a", entry: "ask", hidden: false },
    argv: ["hide", "a@ask", "--undo"],
  },
  {
    operation: "setHidden",
    name: "finds no such entry",
    input: { conversation: "a", entry: "none", hidden: true },
    argv: ["hide", "a@none"],
    fails: "entry_not_found",
  },
];
