import { LogError } from "#log/errors";
import type { Command } from "./command.ts";
import { GLOBAL_OPTIONS, optionsIn, scanLine } from "./options.ts";

export const GROUPS = ["Get started", "Talk", "Inspect", "Branch", "Move data", "Serve", "Maintain"] as const;

interface CommandRow {
  readonly name: string;
  readonly group: (typeof GROUPS)[number];
  /** It is in the short help. */
  readonly isCommon: boolean;
  /** Only a command that runs is loaded: most are small, a few are not. */
  readonly load: () => Promise<Command>;
}

/** The commands of the short help. */
const COMMON: ReadonlySet<string> = new Set(
  "ui demo chat resume list show search fork export import acp serve".split(" "),
);

type Loaders = Readonly<Record<string, () => Promise<Command>>>;

const TABLE: Readonly<Record<CommandRow["group"], Loaders>> = {
  "Get started": {
    ui: async () => (await import("./serve/ui-command.ts")).uiCommand,
    demo: async () => (await import("./chat/demo.ts")).demo,
    new: async () => (await import("./commands/conversation-commands.ts")).newCommand,
    append: async () => (await import("./commands/append.ts")).append,
    help: async () => (await import("./help.ts")).helpCommand,
    completion: async () => (await import("./completion.ts")).completionCommand,
  },
  Talk: {
    chat: async () => (await import("./chat/chat.ts")).chat,
    resume: async () => (await import("./chat/resume-command.ts")).resumeCommand,
    continue: async () => (await import("./chat/headless.ts")).continueCommand,
  },
  Inspect: {
    list: async () => (await import("./commands/list.ts")).list,
    show: async () => (await import("./commands/show.ts")).show,
    search: async () => (await import("./commands/search.ts")).search,
    log: async () => (await import("./commands/log.ts")).log,
    tree: async () => (await import("./commands/tree.ts")).tree,
    context: async () => (await import("./commands/context.ts")).context,
    sessions: async () => (await import("./commands/sessions.ts")).sessions,
    effects: async () => (await import("./commands/effects.ts")).effects,
    usage: async () => (await import("./commands/usage.ts")).usage,
    runs: async () => (await import("./commands/runs.ts")).runsCommand,
    skills: async () => (await import("./commands/skills-command.ts")).skillsCommand,
    memory: async () => (await import("./commands/memory-command.ts")).memoryCommand,
  },
  Branch: {
    fork: async () => (await import("./commands/fork.ts")).fork,
    goto: async () => (await import("./commands/conversation-commands.ts")).goToCommand,
    clear: async () => (await import("./commands/conversation-commands.ts")).clearCommand,
    diff: async () => (await import("./compare/diff-command.ts")).diffCommand,
    replay: async () => (await import("./compare/replay-command.ts")).replayCommand,
    label: async () => (await import("./commands/conversation-commands.ts")).labelCommand,
    hide: async () => (await import("./commands/conversation-commands.ts")).hideCommand,
  },
  "Move data": {
    export: async () => (await import("./transfer/export.ts")).exportCommand,
    import: async () => (await import("./transfer/import.ts")).importCommand,
    copy: async () => (await import("./transfer/copy.ts")).copyCommand,
    migrate: async () => (await import("./transfer/migrate.ts")).migrateCommand,
    backup: async () => (await import("./transfer/backup.ts")).backup,
  },
  Serve: {
    acp: async () => (await import("./serve/acp.ts")).acp,
    serve: async () => (await import("./serve/serve-command.ts")).serveCommand,
    token: async () => (await import("./serve/access-commands.ts")).tokenCommand,
    link: async () => (await import("./serve/access-commands.ts")).linkCommand,
    audit: async () => (await import("./commands/audit-command.ts")).auditCommand,
  },
  Maintain: {
    title: async () => (await import("./commands/conversation-commands.ts")).titleCommand,
    tag: async () => (await import("./commands/conversation-commands.ts")).tagCommand,
    pin: async () => (await import("./commands/conversation-commands.ts")).pinCommand,
    archive: async () => (await import("./commands/conversation-commands.ts")).archiveCommand,
    unarchive: async () => (await import("./commands/conversation-commands.ts")).unarchiveCommand,
    delete: async () => (await import("./commands/space-commands.ts")).deleteCommand,
    prune: async () => (await import("./commands/space-commands.ts")).pruneCommand,
    "sign-out": async () => (await import("./commands/space-commands.ts")).signOutCommand,
    doctor: async () => (await import("./transfer/doctor.ts")).doctor,
  },
};

const COMMANDS: readonly CommandRow[] = GROUPS.flatMap((group) =>
  Object.entries(TABLE[group]).map(([name, load]) => ({ name, group, isCommon: COMMON.has(name), load })),
);

/** What people and scripts also type, and what that stands for. */
const ALIASES: Readonly<Record<string, string>> = {
  ls: "list",
  inspect: "show",
  chain: "sessions",
  hydrate: "runs show",
  "new-chat": "clear",
  erase: "delete",
  rm: "delete",
  rename: "title",
  version: "--version",
};

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/** The command of this name; null when there is none. */
async function loadCommand(name: string | null): Promise<Command | null> {
  return (await COMMANDS.find((row) => row.name === name)?.load()) ?? null;
}

export interface LoadedRow extends Omit<CommandRow, "load"> {
  readonly command: Command;
  readonly aliases: readonly string[];
}

/** All of them, for whoever lists them. */
export function loadCommands(): Promise<readonly LoadedRow[]> {
  return Promise.all(
    COMMANDS.map(async ({ load, name, group, isCommon }) => {
      const aliases = Object.keys(ALIASES).filter((alias) => ALIASES[alias]?.split(" ")[0] === name);
      return { name, group, isCommon, command: await load(), aliases };
    }),
  );
}

/** The command a line is about, if there is such a one, and the rest of the line. */
export async function findCommand(
  argv: readonly string[],
): Promise<{ readonly command: Command | null; readonly rest: readonly string[] }> {
  const [word] = scanLine(argv, optionsIn(GLOBAL_OPTIONS)).positionals;
  if (word === undefined) return { command: null, rest: argv };
  const alias = Object.hasOwn(ALIASES, word.text) ? ALIASES[word.text] : undefined;
  if (alias !== undefined) return findCommand(argv.toSpliced(word.index, 1, ...alias.split(" ")));
  const command = await loadCommand(word.text);
  if (command === null) throw unknownCommand(word.text);
  const rest = argv.toSpliced(word.index, 1);
  const { verbs } = command;
  if (verbs === undefined) return { command, rest };
  const options = optionsIn({ ...GLOBAL_OPTIONS, ...command.options });
  const [verb] = scanLine(rest, options).positionals;
  const named = verbs.find(({ name }) => name === `${command.name} ${verb?.text}`);
  if (named !== undefined && verb !== undefined)
    return { command: named, rest: rest.toSpliced(verb.index, 1) };
  const isHelp = scanLine(rest, options).values["help"] === true;
  return { command: isHelp ? command : (verbs[0] ?? command), rest };
}

function unknownCommand(name: string): LogError {
  const near = nearest(name, [...COMMAND_NAMES, ...Object.keys(ALIASES)]);
  const hint = near === null ? "" : ` Did you mean \`${near}\`?`;
  return new LogError("invalid_request", `Unknown command "${name}".${hint} See \`holdfast help\`.`, {
    command: name,
  });
}

/** The known word that was probably meant: at most a third of its letters differ. Null when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const starts = word.length >= 2 ? candidates.filter((other) => other.startsWith(word)) : [];
  if (starts.length === 1) return starts[0] ?? null;
  const [best] = candidates
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.floor(word.length / 3) ? best.other : null;
}

/** Insertions, deletions, changes and swaps of neighbours that lead from one word to the other. */
function editDistance(source: string, target: string): number {
  const rows: number[][] = [Array.from({ length: target.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= source.length; row++) {
    const line = [row];
    for (let column = 1; column <= target.length; column++) {
      const cost = source[row - 1] === target[column - 1] ? 0 : 1;
      const change = (rows[row - 1]?.[column - 1] ?? 0) + cost;
      const insert = (line[column - 1] ?? 0) + 1;
      const remove = (rows[row - 1]?.[column] ?? 0) + 1;
      const isSwap =
        row > 1 &&
        column > 1 &&
        source[row - 1] === target[column - 2] &&
        source[row - 2] === target[column - 1];
      const swap = isSwap ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(change, insert, remove, swap));
    }
    rows.push(line);
  }
  return rows[source.length]?.[target.length] ?? 0;
}
