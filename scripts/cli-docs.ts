/**
 * Makes docs/reference/cli.md from the table of commands, which help, parsing, completion and the man page follow. `node
 * scripts/cli-docs.ts` writes the file.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "../src/edges/cli/command.ts";
import { GROUPS, loadCommands } from "../src/edges/cli/commands.ts";
import { STATUS } from "../src/edges/cli/exit.ts";
import { ADDRESSES, EXIT_CODES, usageLines } from "../src/edges/cli/help.ts";
import { GLOBAL_OPTIONS, type OptionTexts } from "../src/edges/cli/options.ts";
import { ERROR_GROUPS } from "../src/log/errors.ts";

const HEAD = `# Command line

Made by \`npm run docs:api\` from the commands, as \`holdfast help\` is.

\`\`\`console
holdfast COMMAND [options]
holdfast help COMMAND
\`\`\`

In a checkout, \`./holdfast\` runs from any folder and finds a Node it can use.

## Which command moves data?

| you want to                                            | use                                             |
| ------------------------------------------------------ | ----------------------------------------------- |
| hand a conversation to another machine or person       | [\`export\`](#export), then [\`import\`](#import)   |
| move to another kind of store, or keep a second one    | [\`copy\`](#copy)                                 |
| have a copy of everything in case the disk fails       | [\`backup\`](#backup)                             |
| import messages from your own app's database           | [\`migrate\`](#migrate)                           |

## Behavior of every command

- **Read commands never write.** They repair nothing, and a store that doesn't exist reads as empty.
- **Output.** Results go to standard output; remarks, progress and errors go to standard error. Holdfast removes control characters from stored text
  and escapes invisible ones. JSON is exact; at a terminal these characters are JSON escapes.
- **Pipes.** If the reader of standard output closes it, a read command exits with 0. A write command stops and exits with 5, so that you notice input
  it didn't take.
- **Stores.** Without \`--store\` and \`HOLDFAST_STORE\`, Holdfast uses a SQLite file in your home folder. Put the password of a \`postgres://\` store into
  \`HOLDFAST_STORE\`: others on the machine can see a command line. See [PostgreSQL](../how-to/operate/postgres.md).
- **Exact ids first.** If several ids match, an exact id counts before a label, a label before the start of an id, and that before the end. If more than
  one matches, the error lists them (exit 2).
`;

const ERRORS = `
With \`--json\` an error is one object on standard error. \`code\` is stable; the other texts are for people.

\`\`\`json
{
  "schemaVersion": 1,
  "error": { "code": "unknown_parent", "message": "…", "safe": "…", "next": "…", "details": { "line": 3 } }
}
\`\`\`

[Errors](errors.md) has the cause and fix of every code. [Format](format.md#shapes-on-the-command-line) has the JSON that commands read and print.
`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |\n`;
  return `${line(head)}${line(head.map(() => "---"))}${rows.map(line).join("")}`;
}

function optionTable(options: OptionTexts): string {
  const rows = Object.entries(options).flatMap(([key, text]) =>
    key.startsWith("-")
      ? text === ""
        ? []
        : [[`\`${key.replace("...", "")}\``, `${text}${key.endsWith("...") ? " (repeatable)" : ""}`]]
      : [[`**${key}**`, ""]],
  );
  return rows.length === 0 ? "" : `\n${table(["option", "description"], rows)}`;
}

function codeBlock(lines: readonly string[]): string {
  return `\`\`\`console\n${lines.join("\n")}\n\`\`\`\n`;
}

function section(command: Command, aliases: readonly string[], depth: string): string {
  const { name, summary, about, examples, options, verbs = [] } = command;
  const also = aliases.length === 0 ? "" : `\nAlso: ${aliases.map((alias) => `\`${alias}\``).join(", ")}.\n`;
  const own = verbs.length > 0 ? "" : optionTable(options);
  const paragraphs = about
    .trim()
    .replaceAll(
      /(?:^ {2}.*(?:\n|$))+/gm,
      (lines) => `\`\`\`text\n${lines.replaceAll(/^ {2}/gm, "").trimEnd()}\n\`\`\`\n`,
    );
  const text = paragraphs === "" ? "" : `\n${paragraphs.trim()}\n`;
  const shown = verbs.length > 0 ? "" : `\n${codeBlock(examples)}`;
  return [
    `\n${depth} ${name}\n\n${summary}.\n\n${codeBlock(usageLines(command))}${text}${also}${own}${shown}`,
    ...verbs.map((verb) =>
      section({ ...verb, about: verb.about === about ? "" : verb.about }, [], `${depth}#`),
    ),
  ].join("");
}

/** The page; `oxfmt` formats it. */
export async function cliPage(): Promise<string> {
  const rows = await loadCommands();
  const codes = Map.groupBy(Object.entries(ERROR_GROUPS), ([, group]) => STATUS[group]);
  const groups = GROUPS.map((group) => {
    const commands = rows.filter((row) => row.group === group);
    return `\n## ${group}\n${commands.map(({ command, aliases }) => section(command, aliases, "###")).join("")}`;
  });
  const exits = EXIT_CODES.map(([status, text]) => {
    const names = (codes.get(status) ?? []).map(([code]) => `\`${code}\``);
    return [String(status), text, names.join(" ")];
  });
  return `${HEAD}
${ADDRESSES}

${table(
  ["option", "description"],
  Object.entries(GLOBAL_OPTIONS).map(([key, text]) => [
    `\`${key}\``,
    text.replaceAll(/\bHOLDFAST_\w+\b/g, "`$&`"),
  ]),
)}
## Exit codes

${table(["code", "meaning", "error codes"], exits)}${ERRORS}${groups.join("")}`;
}

if (import.meta.main)
  writeFileSync(fileURLToPath(new URL("../docs/reference/cli.md", import.meta.url)), await cliPage());
