/** A conversation in which everything that a stranger can word is hostile. */
import { Memory } from "#agent/memory/memory";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { assistant, toolResult, user } from "#log/message";

/** In every text: shown by itself, it says that the text is there and was not obeyed. */
const TAG = "<img src=x onerror=window.struck=1>\u202Egnp.\u001B[31m";

const SCRIPTS = [
  "<script>window.struck = 1</script>",
  '<img src="x" onerror="window.struck = 1"><svg onload="window.struck = 1"><animate onbegin="window.struck = 1"></svg>',
  '<iframe srcdoc="<script>parent.struck = 1</script>"></iframe><style>body { display: none }</style>',
  "[script](javascript:window.struck=1) [odd](JaVaScRiPt:window.struck=1) [data](data:text/html,<script>1</script>) [file](file:///etc/passwd)",
  '![beacon](http://evil.example/beacon.png) <img src="http://evil.example/raw.png"> ![inline](data:image/svg+xml,<svg onload="window.struck=1"/>)',
  "[a bank](https://evil.example/login) and https://plain.example/",
].join("\n\n");
const TERMINAL =
  "\u001B]0;owned\u0007\u001B]52;c;b3duZWQ=\u0007\u001B]8;;http://evil.example\u001B\\link\u001B]8;;\u001B\\ \u001BPdevice\u001B\\ \u001B[2J\u001B[31mred\u001B[0m\noverwritten\rvisible\n\u009B5mblink <b>bold</b>";
const UNSEEN = "safe\u202Etxt.exe\u202C zero\u200Bwidth \u2066isolate\u2069";

const LEVELS = 5_000;
const deep = (mark: string, times: number): string => `${mark.repeat(times)} deep`;

/** What is nested without an end, by the ids of its entries. */
export const NESTED: { readonly [entry: string]: string } = {
  quotes: deep("> ", LEVELS),
  "lists-in-a-line": deep("- ", LEVELS),
  // Each level is indented further than the one before: as many as a message of this length can hold.
  lists: Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- level ${at}`).join("\n"),
  numbers: deep("1. ", LEVELS),
  mixed: deep("> - 1) ", LEVELS),
  brackets: deep("[", 20_000),
  emphasis: deep("**_", LEVELS),
  stars: "a*".repeat(15_000),
  "lazy-lines": `- x\n${"y\n".repeat(14_000)}`,
};

const call = (id: string, callId: string): EntryBody => ({
  type: "message",
  id,
  message: {
    role: "assistant",
    model: `model${TAG}`,
    content: [
      { type: "thinking", thinking: `thought${TAG}` },
      { type: "text", text: `text${TAG}` },
      {
        type: "toolCall",
        id: callId,
        name: `bash${TAG}`,
        input: { command: `echo ${TAG}`, [`name${TAG}`]: TAG },
      },
    ],
    usage: { inputTokens: 900, outputTokens: 40, costMicros: 3_300 },
  },
});

const ENTRIES: readonly EntryBody[] = [
  {
    type: "run_start",
    run: "odd-run",
    trigger: `mail${TAG}`,
    triggerId: `17${TAG}`,
    mailbox: `box${TAG}`,
    model: `model${TAG}`,
    tools: [`bash${TAG}`],
    promptPatch: { [`section${TAG}`]: `patch${TAG}` },
  },
  { ...user(SCRIPTS), id: "scripts" },
  { type: "turn_start", turn: "t1", prompt: "scripts", run: "odd-run" },
  { type: "upstream_link", upstream: `one${TAG}`, agent: `agent${TAG}`, reason: `new${TAG}` },
  { ...assistant(UNSEEN), id: "unseen" },
  call("called", "c1"),
  { ...toolResult("c1", TERMINAL), id: "terminal" },
  { type: "upstream_end", upstream: `one${TAG}`, reason: `ended${TAG}` },
  { type: "upstream_link", upstream: `two${TAG}`, agent: `agent${TAG}`, reason: `limit${TAG}` },
  { ...user(`again${TAG}`), id: "again" },
  {
    type: "compaction",
    id: "folded",
    summary: `so far${TAG}`,
    firstKeptEntryId: "again",
    tokensBefore: 9_000,
  },
  { type: "state_change", state: { [`state${TAG}`]: TAG } },
  { type: "turn_end", turn: "t1", outcome: "completed" },
  {
    type: "run_end",
    run: "odd-run",
    status: "failed",
    error: { message: `failed${TAG}`, code: `code${TAG}` },
  },
  { type: "label", target: "scripts", label: `<s>label</s>\u202E${TAG}` },
  { type: "metadata", metadata: { tags: [`tag${TAG}`] } },
  call("unknown", "c2"),
  { type: "tool_intent", call: "c2", name: `bash${TAG}`, input: { command: TAG } },
  { ...assistant(`The end${TAG}`), id: "end" },
];

/** `hostile` and a fork of it; `nested`, with a message for each kind of nesting; what is remembered of somebody. */
export async function writeHostileLogs(holdfast: Holdfast): Promise<void> {
  const hostile = await holdfast.create({ id: "hostile", title: `title${TAG}`, cwd: `/repo/cwd${TAG}` });
  await hostile.append(ENTRIES);
  const fork = await hostile.fork({ id: "hostile-fork", at: "called" });
  await fork.append([
    { type: "title", title: `fork${TAG}` },
    { ...user(`other${TAG}`), id: "other" },
    { ...call("called-otherwise", "c3") },
  ]);
  await new Memory(holdfast).save("user", {
    title: `memory${TAG}`,
    content: `remembered${TAG}\n${SCRIPTS}`,
    by: "model",
    conversation: "hostile",
    tags: [`tag${TAG}`],
  });
  const nested = await holdfast.create({ id: "nested", title: "Nested" });
  await nested.append(Object.entries(NESTED).map(([id, text]) => Object.assign(user(text), { id })));
}
