import type { Command } from "./command.ts";
import { pad, type Style } from "#edges/cli/terminal/terminal";

const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ["Start", ["ui", "demo", "chat", "resume", "continue", "replay", "new", "append"]],
  ["In an editor", ["acp"]],
  ["Over HTTP", ["serve", "token", "link", "audit"]],
  [
    "Read",
    [
      "ls",
      "show",
      "log",
      "context",
      "tree",
      "diff",
      "chain",
      "effects",
      "usage",
      "runs",
      "hydrate",
      "search",
      "skills",
      "memory",
    ],
  ],
  ["Move and mark", ["goto", "fork", "new-chat", "label", "title", "hide"]],
  [
    "Carry and care",
    [
      "export",
      "import",
      "copy",
      "migrate",
      "backup",
      "doctor",
      "archive",
      "unarchive",
      "prune",
      "sign-out",
      "erase",
    ],
  ],
];

export function overview(commands: readonly Command[], style: Style): string {
  const groups = GROUPS.map(([heading, names]) => {
    const rows = names.flatMap((name) => commands.filter((command) => command.name === name));
    return [style.bold(heading), ...rows.map(({ name, summary }) => `  ${pad(name, 9)} ${summary}`)].join(
      "\n",
    );
  });
  return `Holdfast keeps an AI agent's conversations: one append-only log each, everything else read from it.

Usage: holdfast COMMAND [options]

${groups.join("\n\n")}

${style.bold("Everywhere")}
  --store ADDRESS   sqlite:PATH, jsonl:DIR, postgres://USER@HOST/DATABASE?schema=NAME or
                    memory: (or set HOLDFAST_STORE, which keeps passwords out of sight)
  --space NAME      the tenant (or set HOLDFAST_SPACE)
  --json            for scripts: one object, or one per line
  --help, --version

A conversation is named by its id, the start of it, or its end as \`ls\` shows it; an
entry by ID@ENTRY, where ENTRY is an entry's id, a part of it alike, or a label.

Exit codes: 0 ok, 2 the call is wrong, 3 not found, 4 conflict, 5 busy or
unavailable, 6 damaged, 7 a tool call was denied, 1 anything unexpected.

New here? Run \`holdfast demo\`: it takes half a minute.
\`holdfast help COMMAND\` explains one command, with examples.
`;
}

export function commandHelp(command: Command, style: Style): string {
  const { name, summary, usage, about, examples } = command;
  const forms = usage.map((form) => `  holdfast ${name} ${form}`.trimEnd()).join("\n");
  const exampleLines = examples.map((example) => `  ${example}`).join("\n");
  return `${summary}\n\n${style.bold("Usage")}\n${forms}\n\n${about.trim()}\n\n${style.bold("Examples")}\n${exampleLines}\n`;
}
