import type { Command } from "./command.ts";
import { helpCommand } from "./help-command.ts";

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
  diff: async () => (await import("./diff/diff-command.ts")).diffCommand,
  runs: async () => (await import("./runs/runs-command.ts")).runsCommand,
  hydrate: async () => (await import("./runs/hydrate-command.ts")).hydrateCommand,
  replay: async () => (await import("./replay/replay-command.ts")).replayCommand,
  goto: async () => (await import("./commands/conversation-commands.ts")).goToCommand,
  fork: async () => (await import("./commands/fork.ts")).fork,
  label: async () => (await import("./commands/entry-commands.ts")).labelCommand,
  title: async () => (await import("./commands/conversation-commands.ts")).titleCommand,
  hide: async () => (await import("./commands/entry-commands.ts")).hideCommand,
  "new-chat": async () => (await import("./commands/conversation-commands.ts")).newChatCommand,
  "sign-out": async () => (await import("./commands/sign-out.ts")).signOutCommand,
  ls: async () => (await import("./commands/ls.ts")).ls,
  search: async () => (await import("./commands/search.ts")).search,
  export: async () => (await import("./commands/export.ts")).exportCommand,
  import: async () => (await import("./commands/import.ts")).importCommand,
  copy: async () => (await import("./copy/copy-command.ts")).copyCommand,
  migrate: async () => (await import("./migrate/migrate-command.ts")).migrateCommand,
  backup: async () => (await import("./commands/backup.ts")).backup,
  archive: async () => (await import("./manage/archive-command.ts")).archiveCommand,
  unarchive: async () => (await import("./manage/archive-command.ts")).unarchiveCommand,
  prune: async () => (await import("./manage/prune-command.ts")).pruneCommand,
  erase: async () => (await import("./commands/erase.ts")).erase,
  audit: async () => (await import("./manage/audit-command.ts")).auditCommand,
  memory: async () => (await import("./manage/memory-command.ts")).memoryCommand,
  skills: async () => (await import("./skills/skills-command.ts")).skillsCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
  acp: async () => (await import("./commands/acp.ts")).acp,
  serve: async () => (await import("./serve/serve-command.ts")).serveCommand,
  token: async () => (await import("./serve/token-command.ts")).tokenCommand,
  link: async () => (await import("./serve/link-command.ts")).linkCommand,
  ui: async () => (await import("./ui/ui-command.ts")).uiCommand,
  demo: async () => (await import("./demos/demo.ts")).demo,
  chat: async () => (await import("./chat/chat.ts")).chat,
  resume: async () => (await import("./resume/resume-command.ts")).resumeCommand,
  continue: async () => (await import("./chat/continue.ts")).continueCommand,
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
