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
import { commandGroup } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { operationCommand } from "#edges/cli/operation-command";
import { safeLine, wrap } from "#edges/cli/terminal/terminal";

const SCOPE = "[--scope user|project]";
const FOLDER = { folder: { type: "string" } } as const;
const OF_GROUP = { about: "", examples: [] };

/** Whose memory is meant: the user's and that of the project of a folder. */
function folderOf({ flags }: Call): { readonly folder: string } {
  return { folder: flags.text("folder") ?? process.cwd() };
}

const ls = finishingErasures(
  operationCommand(listMemory, {
    ...OF_GROUP,
    usage: [`${SCOPE} [--removed]`],
    withoutFlag: ["project"],
    complete: (_input, call) => folderOf(call),
    rows: "memories",
    text: ({ memories }, _input, out) => memories.map((one) => memoryText(one, out)).join("\n"),
    remarks: ({ memories }, { removed }) =>
      memories.length > 0 ? [] : [removed === true ? "Nothing was removed." : "Nothing is remembered."],
  }),
);

const search = finishingErasures(
  operationCommand(searchMemory, {
    ...OF_GROUP,
    usage: [`WORDS [-n COUNT] ${SCOPE}`],
    options: { limit: { type: "string", short: "n" } },
    withoutFlag: ["project"],
    complete: (_input, call) => folderOf(call),
    rows: "hits",
    text: ({ hits }, _input, out) => hits.map((one) => memoryText(one, out)).join("\n"),
    remarks: ({ hits }) => (hits.length > 0 ? [] : ["Nothing found."]),
  }),
);

const add = operationCommand(saveMemory, {
  ...OF_GROUP,
  usage: [
    "TEXT|- [--title TITLE] [--key KEY] [--kind KIND] [--tag TAG]... [--keyword WORD]... [--scope SCOPE]",
  ],
  withoutFlag: ["project", "replaces"],
  flagNames: { memory: "key", tags: "tag", keywords: "keyword" },
  async complete({ content }, call) {
    return { ...folderOf(call), ...(content === "-" ? { content: await readAll(call.io.stdin) } : {}) };
  },
  text: ({ key, scope }) => `Remembered as ${safeLine(key)} (${scope})`,
  // A key that was made of the first line may be that of something else.
  remarks: ({ replaced, content }) =>
    replaced === null || replaced === content
      ? []
      : [`It takes the place of: ${safeLine(replaced)}\nTo keep both, add that again with another --key.`],
});

const restore = operationCommand(restoreMemory, {
  ...OF_GROUP,
  usage: [`KEY ${SCOPE}`],
  withoutFlag: ["project"],
  complete: (_input, call) => folderOf(call),
  text: ({ key, scope }) => `Restored ${safeLine(key)} (${scope})`,
});

const rm: Command = {
  ...OF_GROUP,
  name: "memory rm",
  summary: removeMemory.summary,
  usage: [`KEY... [--forever --yes] ${SCOPE}`],
  options: { ...FOLDER, scope: { type: "string" }, forever: { type: "boolean" }, yes: { type: "boolean" } },
  writes: true,
  arity: [1, Number.POSITIVE_INFINITY],
  async run(call) {
    const context = { holdfast: await call.open(), clock: systemClock };
    const [forever, isSure] = [call.flags.has("forever"), call.flags.has("yes")];
    const scope = call.flags.text("scope");
    const whose = { ...folderOf(call), ...(scope === undefined ? {} : { scope }) };
    // All are found before one is changed.
    const request = { memories: call.args, ...whose, dryRun: !forever || !isSure };
    const { memories } = valueOf(await perform(eraseMemories, request, context));
    if (forever && !isSure) {
      const warning = `This would erase ${call.args.map(safeLine).join(", ")} and every earlier wording, for good. Nothing was erased; add --yes to do it.`;
      if (call.json) throw new LogError("invalid_request", warning, { memory: call.args });
      await remark(call, warning);
      return STATUS.caller;
    }
    for (const place of memories) {
      const { key } = place;
      const removed = forever ? {} : valueOf(await perform(removeMemory, { memory: key, ...whose }, context));
      await answer(
        call,
        { ...removed, ...place, removed: true, forever },
        () => `${forever ? "Erased" : "Removed"} ${safeLine(key)} (${place.scope})`,
      );
    }
    return STATUS.ok;
  },
};

const projectCommand: Command = {
  ...OF_GROUP,
  name: "memory project",
  summary: "Prints the id of the project of this folder",
  usage: ["[--write]"],
  options: { ...FOLDER, write: { type: "boolean" } },
  arity: [0, 0],
  async run(call) {
    const memory = new Memory(await call.open({ readOnly: true }));
    const { folder } = folderOf(call);
    const project = await memory.projectOf(folder);
    if (project === null) throw new LogError("invalid_request", `There is no folder ${folder}`);
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
    summary: "Shows and changes what is remembered beyond conversations, of you and of a project",
    about: `A model is told of it in every conversation: of the user's everywhere, of a project's where that is
worked on. A project is known by ${PROJECT_FILE} in its folder, else by its repository, else by its
path. What is added under the same key takes the place of what was there. Secrets are refused.

  ls       what is remembered, newest first; --removed: what may be restored
  add      remembers TEXT (- reads it from standard input), of the user unless told
  search   by words in any language; first what has all of them as they are typed
  rm       is told to no model any more; restore brings it back. With --forever every wording is
           erased from the store; words that were said in conversations stay there
  project  the id the project of this folder is known by; --write keeps it in ${PROJECT_FILE}

  --scope user|project  both unless told; add takes user
  --folder PATH         whose project is meant; this folder unless told
  --kind KIND           ${MEMORY_KINDS.join(", ")}`,
    examples: [
      'holdfast memory add "Answers are in German" --kind preference',
      'holdfast memory add "Tests run with npm test" --scope project --tag tests',
      "holdfast memory search tests --json",
      "holdfast memory rm answers_are_in_german",
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
      throw new LogError("invalid_request", `${file} is there already; nothing was changed`, { file });
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
          await remark(call, `The ${scopeWord(scope)}'s log has older ones, too many to be told`);
        if (erasing === null) continue;
        const isFinished = await finishErasing(call, scope);
        await remark(
          call,
          isFinished
            ? "An erasure had been cut off; it is finished now."
            : "An erasure was cut off, and this store cannot be written now: the words are still in it.",
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
