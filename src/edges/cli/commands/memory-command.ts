import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Memory, scopeLog, scopesFor, scopeWord } from "#agent/memory/memory";
import { MEMORY_KINDS } from "#agent/memory/memory-rules";
import { PROJECT_FILE } from "#agent/memory/project";
import { systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import {
  eraseMemories,
  listMemory,
  type MemoryView,
  removeMemory,
  restoreMemory,
  saveMemory,
  searchMemory,
} from "#operations/memory";
import { perform, valueOf } from "#operations/operation";
import { openHoldfast } from "#open";
import { answer, type Call, type Command, remark, type Sink } from "#edges/cli/command";
import { commandGroup, confirm } from "#edges/cli/command";
import type { OptionTexts } from "#edges/cli/options";
import { STATUS } from "#edges/cli/exit";
import { operationCommand } from "#edges/cli/operation-command";
import { safeLine, wrap } from "#edges/cli/terminal/terminal";

const PLACE: OptionTexts = {
  "--scope user|project": "yours or the project's (default: both; add: user)",
  "--folder PATH": "a folder of the project (default: this folder)",
};
const SEARCH: OptionTexts = { "-n, --limit COUNT": "at most this many", ...PLACE };

/** Whose memory is meant: the user's and that of the project of a folder. */
function folderOf({ flags }: Call): { readonly folder: string } {
  return { folder: flags.text("folder") ?? process.cwd() };
}

const ls = finishingErasures(
  operationCommand(listMemory, {
    examples: ["holdfast memory"],
    options: { "--removed": "list removed memories, which you can restore", ...PLACE },
    complete: (_input, call) => folderOf(call),
    rows: "memories",
    text: ({ memories }, _input, out) => memories.map((one) => memoryText(one, out)).join("\n"),
    remarks: ({ memories }, { removed }) =>
      memories.length > 0
        ? []
        : [
            removed === true
              ? "No removed memories."
              : "No memories yet. `holdfast memory add TEXT` adds one.",
          ],
  }),
);

const search = finishingErasures(
  operationCommand(searchMemory, {
    forms: ["WORDS..."],
    about: "Matches words in any language. Memories that contain all of them come first.",
    examples: ["holdfast memory search tests --json"],
    options: SEARCH,
    complete: (_input, call) => folderOf(call),
    rows: "hits",
    text: ({ hits }, _input, out) => hits.map((one) => memoryText(one, out)).join("\n"),
    remarks: ({ hits }) => (hits.length > 0 ? [] : ["No memories match."]),
  }),
);

const add = operationCommand(saveMemory, {
  forms: ["TEXT..."],
  about: "TEXT - reads standard input. A memory with the same key is replaced. Secrets are rejected.",
  examples: [
    'holdfast memory add "Answer in German" --kind preference',
    'holdfast memory add "Run tests with npm test" --scope project --tag tests',
  ],
  options: {
    "--title TITLE": "the title",
    "--key KEY": "the key (default: from the first line)",
    "--kind KIND": MEMORY_KINDS.join(", "),
    "--tag TAG...": "a tag",
    "--keyword WORD...": "a word that search finds it by",
    ...PLACE,
  },
  optionFields: { key: "memory", tag: "tags", keyword: "keywords" },
  async complete({ content }, call) {
    return { ...folderOf(call), ...(content === "-" ? { content: await readAll(call.io.stdin) } : {}) };
  },
  text: ({ key, scope }) => `Saved as ${safeLine(key)} (${scope})`,
  // A key that was made of the first line may be that of something else.
  remarks: ({ replaced, content }) =>
    replaced === null || replaced === content
      ? []
      : [`It replaces: ${safeLine(replaced)}\nTo keep both, add that text again with another --key.`],
});

const restore = operationCommand(restoreMemory, {
  forms: ["KEY"],
  examples: ["holdfast memory restore KEY"],
  options: PLACE,
  complete: (_input, call) => folderOf(call),
  text: ({ key, scope }) => `Restored ${safeLine(key)} (${scope})`,
});

const rm: Command = {
  name: "memory rm",
  summary: removeMemory.summary,
  forms: ["KEY..."],
  about: `Models don't see a removed memory; \`holdfast memory restore\` reverts it. With --forever Holdfast
deletes every version of it from the store. Messages that mention it stay.`,
  examples: ["holdfast memory rm answer_in_german"],
  options: { "--forever": "delete it permanently", "--yes": "delete without asking", ...PLACE },
  writes: true,
  async run(call) {
    const context = { holdfast: await call.open(), clock: systemClock };
    const [forever, isSure] = [call.flags.has("forever"), call.flags.has("yes")];
    const scope = call.flags.text("scope");
    const whose = { ...folderOf(call), ...(scope === undefined ? {} : { scope }) };
    // All are found before one is changed.
    const request = { memories: call.args, ...whose, dryRun: !forever || !isSure };
    const { memories } = valueOf(await perform(eraseMemories, request, context));
    if (forever) {
      const warning = `This permanently deletes ${call.args.map(safeLine).join(", ")} and every earlier version`;
      if (!(await confirm(call, warning, { expected: "yes", details: { memory: call.args } })))
        return STATUS.caller;
      if (!isSure) await perform(eraseMemories, { ...request, dryRun: false }, context);
    }
    for (const place of memories) {
      const { key } = place;
      const removed = forever ? {} : valueOf(await perform(removeMemory, { memory: key, ...whose }, context));
      await answer(
        call,
        { ...removed, ...place, removed: true, forever },
        () => `${forever ? "Deleted" : "Removed"} ${safeLine(key)} (${place.scope})`,
      );
    }
    return STATUS.ok;
  },
};

const projectCommand: Command = {
  name: "memory project",
  summary: "Print the id of this folder's project",
  forms: [""],
  about: `The id is in ${PROJECT_FILE}, or else made from the repository, or else from the path.`,
  examples: ["holdfast memory project --write"],
  options: {
    "--write": `write the id to ${PROJECT_FILE}`,
    "--folder PATH": "the folder (default: this folder)",
  },
  async run(call) {
    const memory = new Memory(await call.open({ readOnly: true }));
    const { folder } = folderOf(call);
    const project = await memory.projectOf(folder);
    if (project === null) throw new LogError("invalid_request", `Folder ${folder} not found`);
    const { id, root = "", remote = null } = project;
    const file = join(root, PROJECT_FILE);
    const isWritten = call.flags.has("write");
    if (isWritten) await writeId(file, id);
    await answer(call, { project: id, root, remote, file: isWritten ? file : null }, () =>
      isWritten ? `Wrote ${safeLine(id)} to ${safeLine(file)}` : safeLine(id),
    );
  },
};

export const memoryCommand: Command = commandGroup(
  {
    name: "memory",
    summary: "List, add and remove memories of you and a project",
    about: `Models receive your memories in every conversation, and a project's memories in its folder.`,
    examples: [
      'holdfast memory add "Answer in German" --kind preference',
      "holdfast memory search tests --json",
      "holdfast memory rm answer_in_german",
    ],
  },
  [ls, add, search, rm, restore, projectCommand],
);

const STDIN_CHARS_MAX = 1_000_000; // whatever is remembered has a few thousand

async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of input) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > STDIN_CHARS_MAX) break;
  }
  return text;
}

/** Nobody's file is replaced. */
async function writeId(file: string, id: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${id}\n`, { flag: "wx" }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new LogError("invalid_request", `${file} already exists`, { file });
    throw error;
  });
}

/** An erasure that was cut off hides what it is about; whoever sees it gone is told no lie: it is finished, or said. */
function finishingErasures(command: Command): Command {
  return {
    ...command,
    async run(call) {
      await command.run(call);
      const memory = new Memory(await call.open({ readOnly: true }));
      for (const scope of scopesFor(await memory.projectOf(folderOf(call).folder))) {
        const { erasing, leftOut } = await scopeLog(memory, scope).read();
        if (leftOut > 0)
          await remark(call, `The ${scopeWord(scope)}'s log has more memories than are listed`);
        if (erasing === null) continue;
        const isFinished = await finishErasing(call, scope);
        await remark(
          call,
          isFinished
            ? "Finished an interrupted deletion."
            : "A deletion was interrupted, and this store is read-only now: the text is still in it.",
        );
      }
    },
  };
}

async function finishErasing({ store, space }: Call, scope: Parameters<Memory["list"]>[0]): Promise<boolean> {
  try {
    await using writable = await openHoldfast({ store, space });
    await new Memory(writable).list(scope);
    return true;
  } catch {
    return false;
  }
}

function memoryText(memory: MemoryView, out: Sink): string {
  const { scope, key, kind, title, content, tags, updatedAt, removedAt } = memory;
  const about = [scope, kind, updatedAt.slice(0, 10), ...tags, ...(removedAt === null ? [] : ["removed"])];
  const text = content.startsWith(title) ? content : `${title}: ${content}`;
  const lines = wrap(safeLine(text), Math.max(20, out.columns - 4)).map((line) => `    ${line}`);
  return `${out.style.cyan(safeLine(key))}  ${out.style.dim(safeLine(about.join(", ")))}\n${lines.join("\n")}`;
}
