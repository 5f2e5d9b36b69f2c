import { type Command, jsonLine } from "./command.ts";
import { LogError } from "#log/errors";
import { commandHelp, overview } from "./help.ts";

/** By name, in the order in which they are listed. Only the one that is asked for is loaded: most are small, a few are not. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  new: async () => (await import("./commands/conversation-commands.ts")).newCommand,
  append: async () => (await import("./commands/append.ts")).append,
  log: async () => (await import("./commands/log.ts")).log,
  show: async () => (await import("./commands/show.ts")).show,
  context: async () => (await import("./commands/context.ts")).context,
  tree: async () => (await import("./commands/tree.ts")).tree,
  chain: async () => (await import("./commands/chain.ts")).chain,
  effects: async () => (await import("./commands/effects.ts")).effects,
  usage: async () => (await import("./commands/usage.ts")).usage,
  diff: async () => (await import("./compare/diff-command.ts")).diffCommand,
  runs: async () => (await import("./commands/runs.ts")).runsCommand,
  hydrate: async () => (await import("./commands/runs.ts")).hydrateCommand,
  replay: async () => (await import("./compare/replay-command.ts")).replayCommand,
  goto: async () => (await import("./commands/conversation-commands.ts")).goToCommand,
  fork: async () => (await import("./commands/fork.ts")).fork,
  label: async () => (await import("./commands/conversation-commands.ts")).labelCommand,
  title: async () => (await import("./commands/conversation-commands.ts")).titleCommand,
  hide: async () => (await import("./commands/conversation-commands.ts")).hideCommand,
  "new-chat": async () => (await import("./commands/conversation-commands.ts")).newChatCommand,
  "sign-out": async () => (await import("./commands/space-commands.ts")).signOutCommand,
  ls: async () => (await import("./commands/ls.ts")).ls,
  search: async () => (await import("./commands/search.ts")).search,
  export: async () => (await import("./transfer/export.ts")).exportCommand,
  import: async () => (await import("./transfer/import.ts")).importCommand,
  copy: async () => (await import("./transfer/copy.ts")).copyCommand,
  migrate: async () => (await import("./transfer/migrate.ts")).migrateCommand,
  backup: async () => (await import("./transfer/backup.ts")).backup,
  archive: async () => (await import("./commands/space-commands.ts")).archiveCommand,
  unarchive: async () => (await import("./commands/space-commands.ts")).unarchiveCommand,
  prune: async () => (await import("./commands/space-commands.ts")).pruneCommand,
  erase: async () => (await import("./commands/space-commands.ts")).eraseCommand,
  audit: async () => (await import("./commands/audit-command.ts")).auditCommand,
  memory: async () => (await import("./commands/memory-command.ts")).memoryCommand,
  skills: async () => (await import("./commands/skills-command.ts")).skillsCommand,
  doctor: async () => (await import("./transfer/doctor.ts")).doctor,
  acp: async () => (await import("./serve/acp.ts")).acp,
  serve: async () => (await import("./serve/serve-command.ts")).serveCommand,
  token: async () => (await import("./serve/access-commands.ts")).tokenCommand,
  link: async () => (await import("./serve/access-commands.ts")).linkCommand,
  ui: async () => (await import("./serve/ui-command.ts")).uiCommand,
  demo: async () => (await import("./chat/demo.ts")).demo,
  chat: async () => (await import("./chat/chat.ts")).chat,
  resume: async () => (await import("./chat/resume-command.ts")).resumeCommand,
  continue: async () => (await import("./chat/headless.ts")).continueCommand,
  help: async () => helpCommand(await Promise.all(WORKING.map((load) => load()))),
};

const WORKING: readonly (() => Promise<Command>)[] = Object.entries(LOADERS)
  .filter(([name]) => name !== "help")
  .map(([, load]) => load);

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS);

/** The command of this name; null when there is none. */
export async function loadCommand(name: string | null): Promise<Command | null> {
  const load = name !== null && Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined;
  return (await load?.()) ?? null;
}

/** All of them, for whoever lists them. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(LOADERS).map((load) => load()));
}

function helpCommand(commands: readonly Command[]): Command {
  return {
    name: "help",
    summary: "Explains a command",
    usage: ["[COMMAND]"],
    about: "Without a command it lists them all.",
    examples: ["holdfast help", "holdfast help append"],
    options: {},
    arity: [0, 1],
    async run(call) {
      const { io, args, json } = call;
      const [name] = args;
      const command = commands.find((known) => known.name === name);
      if (name !== undefined && command === undefined) {
        const near = nearest(
          name,
          commands.map((known) => known.name),
        );
        throw new LogError(
          "invalid_request",
          `There is no command "${name}".${near === null ? "" : ` Did you mean \`${near}\`?`}`,
        );
      }
      if (json) {
        const rows = (command === undefined ? commands : [command]).map(
          ({ name: word, summary, usage, examples }) => ({ name: word, summary, usage, examples }),
        );
        return io.out.write(jsonLine({ commands: rows }));
      }
      return io.out.write(
        command === undefined ? overview(commands, io.out.style) : commandHelp(command, io.out.style),
      );
    },
  };
}

const DISTANCE_MAX = 2;

/** The known word that was probably meant; null when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const starts = word.length >= 2 ? candidates.filter((other) => other.startsWith(word)) : [];
  if (starts.length === 1) return starts[0] ?? null;
  const scored = candidates
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best !== undefined && best.distance <= Math.min(DISTANCE_MAX, word.length - 1) ? best.other : null;
}

/** Insertions, deletions, changes and swaps of neighbours that lead from one word to the other. */
function editDistance(source: string, target: string): number {
  const rows: number[][] = [Array.from({ length: target.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= source.length; row++) {
    const line = [row];
    for (let column = 1; column <= target.length; column++) {
      const cost = source[row - 1] === target[column - 1];
      const change = (rows[row - 1]?.[column - 1] ?? 0) + (cost ? 0 : 1);
      const insert = (line[column - 1] ?? 0) + 1;
      const remove = (rows[row - 1]?.[column] ?? 0) + 1;
      const swapped =
        row > 1 &&
        column > 1 &&
        source[row - 1] === target[column - 2] &&
        source[row - 2] === target[column - 1];
      const swap = swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(change, insert, remove, swap));
    }
    rows.push(line);
  }
  return rows[source.length]?.[target.length] ?? 0;
}
