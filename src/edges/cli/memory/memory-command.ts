import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Memory, type MemoryScope, scopeWord } from "#agent/memory/memory";
import { MEMORY_KINDS, type MemoryKind } from "#agent/memory/memory-rules";
import { PROJECT_FILE } from "#agent/project/project-identity";
import { LogError } from "#log/errors";
import type { Remembered } from "#log/projections/memories";
import { answer, type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { safeLine } from "#edges/cli/terminal/terminal";
import { finishErasing, findMemories, noFolder, oneScope, projectOf, scopesOf } from "./memory-scopes.ts";
import { memoryLines, memoryOut } from "./memory-view.ts";

const HITS_DEFAULT = 20;

export const memoryCommand: Command = {
  name: "memory",
  summary: "Shows and changes what is remembered beyond conversations, of you and of a project",
  usage: [
    "[ls] [--scope user|project] [--removed]",
    "add TEXT|- [--title TITLE] [--key KEY] [--kind KIND] [--tag TAG]... [--keyword WORD]... [--scope SCOPE]",
    "search WORDS [-n COUNT] [--scope SCOPE]",
    "rm KEY... [--forever --yes] [--scope SCOPE]",
    "restore KEY [--scope SCOPE]",
    "project [--write]",
  ],
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
  options: {
    scope: { type: "string" },
    folder: { type: "string" },
    removed: { type: "boolean" },
    title: { type: "string" },
    key: { type: "string" },
    kind: { type: "string" },
    tag: { type: "string", multiple: true },
    keyword: { type: "string", multiple: true },
    limit: { type: "string", short: "n" },
    forever: { type: "boolean" },
    yes: { type: "boolean" },
    write: { type: "boolean" },
  },
  writes: true,
  arity: [0, Number.POSITIVE_INFINITY],
  run(call) {
    const [verb = "ls", ...args] = call.args;
    const act = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
    if (act === undefined)
      throw new LogError("invalid_request", `memory takes ${Object.keys(VERBS).join(", ")}, not "${verb}"`);
    return act(call, args);
  },
};

const VERBS: { readonly [verb: string]: (call: Call, args: readonly string[]) => Promise<number | void> } = {
  ls: list,
  add,
  search,
  rm,
  restore,
  project: showProject,
};

async function list(call: Call, args: readonly string[]): Promise<void> {
  none(args, "ls");
  const memory = new Memory(await call.open({ readOnly: true }));
  const removed = call.flags.has("removed");
  let found = 0;
  for (const scope of await scopesOf(call, memory)) {
    await finishErasing(call, memory, scope);
    const listed = await memory.list(scope, { removed });
    for (const one of listed) await print(call, scope, one);
    found += listed.length;
    if ((await memory.leftOut(scope)) > 0)
      await remark(call, `The ${scopeWord(scope)}'s log has older ones, too many to be told`);
  }
  if (found === 0 && !call.json)
    await remark(call, removed ? "Nothing was removed." : "Nothing is remembered.");
}

async function add(call: Call, args: readonly string[]): Promise<void> {
  const { flags, io } = call;
  const given = args.join(" ");
  const content = given === "-" ? await readAll(io.stdin) : given;
  const memory = new Memory(await call.open());
  const [title, key, kind] = [flags.text("title"), flags.text("key"), flags.text("kind")];
  const scope = await oneScope(call, memory);
  const before = new Map((await memory.list(scope)).map((one) => [one.key, one]));
  const saved = await memory.save(scope, {
    content,
    ...(title === undefined ? {} : { title }),
    ...(key === undefined ? {} : { key }),
    ...(kind === undefined ? {} : { kind: kind as MemoryKind }),
    tags: flags.list("tag"),
    keywords: flags.list("keyword"),
  });
  const replaced = before.get(saved.key)?.content ?? null;
  await answer(
    call,
    { ...memoryOut(scopeWord(scope), saved), replaced },
    () => `Remembered as ${safeLine(saved.key)} (${scopeWord(scope)})`,
  );
  // A key that was made of the first line may be that of something else.
  if (replaced !== null && replaced !== saved.content && !call.json)
    await remark(
      call,
      `It takes the place of: ${safeLine(replaced)}\nTo keep both, add that again with another --key.`,
    );
}

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

async function search(call: Call, args: readonly string[]): Promise<void> {
  const memory = new Memory(await call.open({ readOnly: true }));
  const limit = call.flags.count("limit") ?? HITS_DEFAULT;
  const scopes = await scopesOf(call, memory);
  const hits = await memory.search(scopes, args.join(" "), { limit });
  for (const scope of scopes) await finishErasing(call, memory, scope);
  for (const { scope, memory: one, score } of hits)
    await call.io.out.write(
      call.json ? jsonLine({ ...memoryOut(scope, one), score }) : memoryLines(scope, one, call.io.out),
    );
  if (hits.length === 0 && !call.json) await remark(call, "Nothing found.");
}

async function rm(call: Call, args: readonly string[]): Promise<number | void> {
  const forever = call.flags.has("forever");
  if (args.length === 0) throw new LogError("invalid_request", "Say which: memory rm KEY...");
  const memory = new Memory(await call.open());
  const found = await findMemories(call, memory, { keys: args, removedToo: forever });
  if (forever && !call.flags.has("yes")) {
    const would = `This would erase ${args.map(safeLine).join(", ")} and every earlier wording, for good. Nothing was erased; add --yes to do it.`;
    if (call.json) throw new LogError("invalid_request", would, { memory: args });
    await remark(call, would);
    return STATUS.caller;
  }
  for (const [scope, keys] of found) {
    if (forever) await memory.removeForever(scope, keys);
    for (const key of keys) {
      if (!forever) await memory.remove(scope, key);
      const done = forever ? "Erased" : "Removed";
      await answer(
        call,
        { scope: scopeWord(scope), key, removed: true, forever },
        () => `${done} ${safeLine(key)} (${scopeWord(scope)})`,
      );
    }
  }
}

async function restore(call: Call, args: readonly string[]): Promise<void> {
  const [key, ...more] = args;
  if (key === undefined || more.length > 0)
    throw new LogError("invalid_request", "Say which: memory restore KEY");
  const memory = new Memory(await call.open());
  for (const [scope, keys] of await findMemories(call, memory, { keys: [key], removedToo: "only" }))
    for (const one of keys) {
      const restored = await memory.restore(scope, one);
      await answer(
        call,
        memoryOut(scopeWord(scope), restored),
        () => `Restored ${safeLine(one)} (${scopeWord(scope)})`,
      );
    }
}

async function showProject(call: Call, args: readonly string[]): Promise<void> {
  none(args, "project");
  const memory = new Memory(await call.open({ readOnly: true }));
  const project = await projectOf(call, memory);
  if (project === null) throw noFolder(call);
  const { id, root = "", remote = null } = project;
  const file = join(root, PROJECT_FILE);
  const written = call.flags.has("write");
  if (written) await keepId(file, id);
  await answer(call, { project: id, root, remote, file: written ? file : null }, () =>
    written ? `Wrote ${safeLine(id)} to ${safeLine(file)}` : safeLine(id),
  );
}

/** Nobody's file is replaced. */
async function keepId(file: string, id: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${id}\n`, { flag: "wx" }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new LogError("invalid_request", `${file} is there already; nothing was changed`, { file });
    throw error;
  });
}

async function print(call: Call, scope: MemoryScope, one: Remembered): Promise<void> {
  const { out } = call.io;
  await out.write(
    call.json ? jsonLine(memoryOut(scopeWord(scope), one)) : memoryLines(scopeWord(scope), one, out),
  );
}

function none(args: readonly string[], verb: string): void {
  if (args.length > 0)
    throw new LogError(
      "invalid_request",
      `memory ${verb} takes no "${args[0]}"; see \`holdfast help memory\``,
    );
}
