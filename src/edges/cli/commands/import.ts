import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { systemIdsAndTime } from "#store/prepare";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { type Checked, checkImport } from "#transfer/import/import-check";
import type { ImportFile } from "#transfer/import/open-import";
import { keepsLinks, writeImport } from "#transfer/import/import-write";
import { counted } from "#edges/cli/terminal/count";
import { progressOn } from "#edges/cli/terminal/progress";
import { safeLine } from "#edges/cli/terminal/terminal";

const PROBLEMS_SHOWN = 20;

export const importCommand: Command = {
  name: "import",
  summary: "Reads a conversation from an export or a session log",
  usage: [
    "FILE [--id NEW | --as-new] [--dry-run] [--salvage]",
    "- [--id NEW | --as-new] [--dry-run] [--salvage]",
  ],
  about: `Takes what \`export\` writes, and session logs that begin with {"type":"session",…}. Entry ids,
parents and payloads stay as they are. The whole file is checked before anything is
written, its links too; under its own id they stay the same, under another they are new. An import that was cut off goes on where it ended when it is run again.

  --id NEW   import under this id instead of the file's own
  --as-new   import under a fresh id
  --dry-run  only check, and say what would be imported
  --salvage  import what can be reached and report the rest; an entry whose parent is lost
             is left out, never attached elsewhere. Without it one bad line stops all.`,
  examples: [
    "holdfast import chat.jsonl",
    "holdfast import session.jsonl --dry-run",
    "zcat chat.jsonl.gz | holdfast import - --as-new",
  ],
  options: {
    id: { type: "string" },
    "as-new": { type: "boolean" },
    "dry-run": { type: "boolean" },
    salvage: { type: "boolean" },
  },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const { flags } = call;
    if (flags.has("as-new") && flags.text("id") !== undefined)
      throw new LogError("invalid_request", "--id and --as-new both choose the id; use one");
    await using source = await sourceOf(call, call.args[0] ?? "");
    const checking = progressOn(call.io.err, "checking lines");
    const checked = await checkImport(source.file, checking.step);
    checking.end();
    const id =
      flags.text("id") ?? (flags.has("as-new") ? systemIdsAndTime.newId() : checked.header.conversation);
    const conversation = parseConversationId(id);
    if (checked.problems.length > 0 && !flags.has("salvage")) throw refusal(source.file.name, checked);
    if (checked.entries === 0)
      throw new LogError(
        "damaged",
        `${source.file.name} holds no conversation that can be reached; nothing was imported`,
        { file: source.file.name },
      );
    const { digest: _digest, format, entries, problems } = checked;
    const { missing } = checked;
    const blobs = checked.blobs.size;
    const links = keepsLinks(checked, conversation) ? "kept" : "new";
    const { linked, unprovenSeq } = checked.links;
    const value = { conversation, entries, format, problems, blobs, missing, linked, links, unprovenSeq };
    await reportProblems(call, checked);
    if (missing.length > 0 && !call.json)
      await remark(
        call,
        `Entries name ${counted(missing.length, "image")} that the file does not have: ${missing.map(safeLine).join(", ")}`,
      );
    if (!linked && !call.json)
      await remark(
        call,
        "The file has no links, so nothing proves what it holds; it gets links from here on",
      );
    if (flags.has("dry-run")) {
      return answer(
        call,
        { ...value, dryRun: true },
        () =>
          `Would import ${counted(entries, "entry", "entries")} as ${safeLine(conversation)}; nothing was written`,
      );
    }
    const holdfast = await call.open();
    const writing = progressOn(call.io.err, "importing entries");
    const imported = await writeImport(holdfast, conversation, source.file, {
      checked,
      onEntry: (done) => writing.step(done, entries),
    });
    writing.end();
    const { leaf } = await imported.head();
    return answer(
      call,
      { ...value, leaf: leaf.id },
      () =>
        `Imported ${counted(entries, "entry", "entries")} as ${safeLine(conversation)}\n→ holdfast show ${safeLine(conversation)}`,
    );
  },
};

function refusal(name: string, { problems, unusable, links }: Checked): LogError {
  const told = problems.slice(0, PROBLEMS_SHOWN).map(problemText);
  const [first] = problems;
  const more = problems.length > told.length ? [`and ${problems.length - told.length} more`] : [];
  const { linked, soundSeq } = links;
  const sound = linked
    ? `\nIts links prove ${soundSeq === 0 ? "none of it" : `entries 1 to ${soundSeq}`}.`
    : "";
  const message = `${name} cannot be imported whole; nothing was written.\n${[...told, ...more].map((line) => `  ${line}`).join("\n")}${sound}\n--salvage imports what can be reached and reports the rest.`;
  return new LogError("damaged", message, {
    file: name,
    line: first?.line ?? 0,
    byte: first?.byte ?? 0,
    unusable: unusable.size,
    problems: told,
    ...(linked ? { soundSeq } : {}),
  });
}

function problemText({ line, byte, message }: Checked["problems"][number]): string {
  return line === 0 ? message : `line ${line}, byte ${byte}: ${message}`;
}

async function reportProblems(call: Call, { problems, unusable }: Checked): Promise<void> {
  if (problems.length === 0 || call.json) return;
  await remark(
    call,
    unusable.size === 0 ? "Not all is there:" : `${counted(unusable.size, "line")} left out:`,
  );
  for (const problem of problems.slice(0, PROBLEMS_SHOWN))
    await remark(call, `  ${safeLine(problemText(problem))}`);
  if (problems.length > PROBLEMS_SHOWN)
    await remark(call, `  and ${problems.length - PROBLEMS_SHOWN} more; --json lists them all`);
}

interface Source extends AsyncDisposable {
  readonly file: ImportFile;
}

/** A file is read twice, so what comes through a pipe is set down first. */
async function sourceOf(call: Call, name: string): Promise<Source> {
  if (name !== "-") {
    const found = await stat(name).catch((cause: unknown) => {
      throw new LogError("invalid_request", `${name} cannot be read`, { file: name }, { cause });
    });
    if (found.isDirectory())
      throw new LogError("invalid_request", `${name} is a folder, not a file`, { file: name });
    if (found.isFile())
      return {
        file: { name, chunks: () => createReadStream(name) },
        [Symbol.asyncDispose]: async () => undefined,
      };
    return spooled(name, createReadStream(name));
  }
  return spooled("standard input", call.io.stdin);
}

async function spooled(name: string, bytes: AsyncIterable<Uint8Array>): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-import-"));
  const path = join(folder, "input.jsonl");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(Readable.from(bytes), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { file: { name, chunks: () => createReadStream(path) }, [Symbol.asyncDispose]: remove };
}
