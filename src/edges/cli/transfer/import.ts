import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { LogError, isLogError } from "#log/errors";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import type { Holdfast } from "#conversation/holdfast";
import { bundleFile, spooledFile, type ImportFile } from "#transfer/bundles/open-import";
import {
  type ImportedBundle,
  type ImportedConversation,
  importInto,
  problemText,
} from "#transfer/bundles/import-bundle";
import { importAnswer, importFile } from "#operations/files";
import { check } from "#operations/operation";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { progressOn } from "#edges/cli/terminal/output";

const PROBLEMS_SHOWN = 20;

export const importCommand: Command = {
  name: "import",
  summary: "Import an export or a session log",
  forms: ["FILE"],
  about: `Use it for files that \`holdfast export\` wrote, and for session logs that begin with
{"type":"session",…}. FILE - is standard input. Holdfast checks the whole file before it writes.
Entry ids, parents and payloads stay the same. Conversations that you already have are not
written again; another conversation with the same id is an error. Run an interrupted import again
to finish it.`,
  examples: [
    "holdfast import chat.jsonl",
    "holdfast import session.jsonl --dry-run",
    "zcat chat.jsonl.gz | holdfast import - --as-new",
  ],
  options: {
    "--id NEW": "import under this id",
    "--as-new": "import under new ids",
    "--dry-run": "check the file and show what would be imported",
    "--salvage":
      "import the entries that can be read and report the rest; an entry without its parent is skipped",
  },
  writes: true,
  async run(call) {
    const { flags } = call;
    const id = flags.text("id");
    const dryRun = flags.has("dry-run");
    const input = {
      asNew: flags.has("as-new"),
      dryRun,
      salvage: flags.has("salvage"),
      ...(id === undefined ? {} : { id }),
    };
    check(importFile, { ...input, file: call.args[0] });
    await using source = await sourceOf(call, call.args[0] ?? "");
    const checking = progressOn(call.io.err, "checking lines");
    const writing = progressOn(call.io.err, "importing entries");
    const open = async (): Promise<Holdfast> => {
      checking.end();
      return call.open({ readOnly: dryRun });
    };
    const imported = await importInto(open, source.file, {
      ...input,
      onLine: checking.step,
      onEntry: writing.step,
    }).catch((error: unknown) => {
      throw withAdvice(error);
    });
    writing.end();
    if (!call.json) await remarks(call, imported);
    const [first] = imported.conversations;
    const leaf = dryRun || first === undefined ? null : await leafOf(await call.open(), first.conversation);
    const unprovenSeq = first?.unprovenSeq;
    const output = importAnswer(imported, { dryRun, bytes: source.bytes });
    await answer(call, { ...output, unprovenSeq, ...(leaf === null ? {} : { leaf }) }, () =>
      importText(imported, dryRun),
    );
  },
};

async function leafOf(holdfast: Holdfast, id: string): Promise<string> {
  return (await (await holdfast.conversation(id)).head()).leaf.id;
}

const STATES: Readonly<Record<ImportedConversation["state"], string>> = {
  new: "",
  unfinished: " (went on where an earlier run was cut off)",
  blobs: " (it was there; images that were missing were brought)",
  same: " (already imported)",
  conflict: " (another conversation has this id)",
};

function importText({ conversations }: ImportedBundle, dryRun: boolean): string {
  const verb = dryRun ? "Would import" : "Imported";
  const lines = conversations.map(
    ({ conversation, entries, state }) =>
      `${verb} ${counted(entries, "entry", "entries")} as ${safeLine(conversation)}${STATES[state]}`,
  );
  const last = dryRun
    ? "Nothing was written"
    : `→ holdfast show ${safeLine(conversations[0]?.conversation ?? "")}`;
  return [...lines, last].join("\n");
}

/** What a person should know of what came along. */
async function remarks(call: Call, imported: ImportedBundle): Promise<void> {
  await reportProblems(call, imported);
  const missing = imported.conversations.flatMap((conversation) => conversation.missing);
  if (missing.length > 0)
    await remark(
      call,
      `Entries name ${counted(missing.length, "image")} that the file does not have: ${missing.map(safeLine).join(", ")}`,
    );
  const seeds = imported.conversations.flatMap(({ missingSeeds }) => missingSeeds);
  if (seeds.length > 0)
    await remark(
      call,
      `Runs name ${counted(seeds.length, "seed")} that the file does not have: ${seeds.map(safeLine).join(", ")}`,
    );
  if (imported.conversations.some(({ linked }) => !linked))
    await remark(call, "The file has no links, so nothing proves what it holds; it gets links from here on");
}

async function reportProblems(call: Call, { problems, leftOut }: ImportedBundle): Promise<void> {
  if (problems.length === 0) return;
  await remark(call, leftOut === 0 ? "Not all is there:" : `${counted(leftOut, "line")} left out:`);
  for (const problem of problems.slice(0, PROBLEMS_SHOWN))
    await remark(call, `  ${safeLine(problemText(problem))}`);
  if (problems.length > PROBLEMS_SHOWN)
    await remark(call, `  and ${problems.length - PROBLEMS_SHOWN} more; --json lists them all`);
}

interface Source extends AsyncDisposable {
  readonly file: ImportFile;
  readonly bytes: number;
}

/** A file is read twice, so what comes through a pipe is set down first. */
async function sourceOf(call: Call, name: string): Promise<Source> {
  if (name !== "-") {
    const stats = await stat(name).catch((cause: unknown) => {
      throw new LogError("invalid_request", `${name} cannot be read`, { file: name }, { cause });
    });
    if (stats.isDirectory())
      throw new LogError("invalid_request", `${name} is a folder, not a file`, { file: name });
    if (stats.isFile())
      return { file: bundleFile(name), bytes: stats.size, [Symbol.asyncDispose]: async () => undefined };
    return spooledFile(name, createReadStream(name));
  }
  return spooledFile("standard input", call.io.stdin);
}

const THROUGH_ACP =
  "Import it through its agent instead: run the agent with `holdfast acp`, then open the session in your editor";

/** By what a file is that is no export. */
const KINDS: Readonly<Record<string, string>> = {
  claude: THROUGH_ACP,
  codex: THROUGH_ACP,
  gemini: THROUGH_ACP,
  opencode: THROUGH_ACP,
  "jsonl-store": "Open it where it is, with --store jsonl:DIR, and `holdfast export` the conversation",
  bodies: "Make a conversation with `holdfast new`, then `holdfast append ID` takes such lines",
  compressed: "Unpack it first: `zcat FILE | holdfast import -`",
  sqlite: "Open it where it is, with --store sqlite:FILE, and `holdfast export` the conversation",
};

/** The error with what the command line can do about it; the library knows of no flags. */
function withAdvice(error: unknown): unknown {
  if (!isLogError(error)) return error;
  const advice = adviceFor(error);
  if (advice === null) return error;
  return new LogError(error.code, `${error.message}${advice}`, error.details, { cause: error.cause });
}

function adviceFor({ code, details }: LogError): string | null {
  if (code === "conversation_exists") return " --id NEW or --as-new imports it beside that one.";
  if (code === "damaged" && "problems" in details)
    return "\n--salvage imports what can be reached and reports the rest.";
  if (code === "invalid_request" && "conversations" in details) return ". --as-new gives each a fresh id";
  const { kind } = details;
  const hint = typeof kind === "string" && code === "invalid_request" ? KINDS[kind] : undefined;
  return hint === undefined ? null : `. ${hint}`;
}
