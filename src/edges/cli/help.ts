import { LogError } from "#log/errors";
import { type Command, jsonLine, packageVersion, type Sink } from "./command.ts";
import { findCommand, GROUPS, type LoadedRow, loadCommands } from "./commands.ts";
import { type Option, GLOBAL_OPTIONS, optionsIn, type OptionTexts } from "./options.ts";
import { pad, wrap } from "./terminal/terminal.ts";

const [WIDTH_MAX, NAME_MAX, COMMAND_WIDTH] = [100, 26, 11];

/** An exit status and what it means, for help, the reference and the man page. */
export const EXIT_CODES: readonly (readonly [number, string])[] = [
  [0, "success"],
  [1, "unexpected error, or a turn that failed or was stopped"],
  [2, "usage error: nothing was written"],
  [3, "not found in this store and space"],
  [4, "conflict: another writer, or an id that is in use"],
  [5, "busy or unavailable: try again later"],
  [6, "damaged, or written by a newer version"],
  [7, "the turn completed, but a tool call was denied"],
  [8, "the two sides differ (diff --exit-code, replay --fail-on-divergence, migrate --verify)"],
  [9, "the turn waits for your answer"],
];

/** The common commands. */
export function shortHelp(rows: readonly LoadedRow[], { style }: Sink): string {
  return `Holdfast: durable conversations for AI agents

${style.bold("Usage")}
  holdfast COMMAND [options]

${style.bold("Commands")}
${rows
  .filter(({ isCommon }) => isCommon)
  .map(commandLine)
  .join("")}
New here? Run \`holdfast demo\`: it takes half a minute and needs no key.
\`holdfast help COMMAND\` explains a command.
\`holdfast help --all\` lists all commands and options.
`;
}

/** Every command, by group, with what holds for all of them. */
export function fullHelp(rows: readonly LoadedRow[], { style, columns }: Sink): string {
  const groups = GROUPS.map(
    (group) =>
      `${style.bold(group)}\n${rows
        .filter((row) => row.group === group)
        .map(commandLine)
        .join("")}`,
  );
  return `Holdfast: durable conversations for AI agents

${style.bold("Usage")}
  holdfast COMMAND [options]

${groups.join("\n")}
${style.bold("Options of every command")}
${optionLines(GLOBAL_OPTIONS, columns)}
${style.bold("Addresses")}
${paragraphs(ADDRESSES, columns, "  ")}

${style.bold("Exit codes")}
${table(EXIT_CODES, columns)}
\`npm docs holdfast\` opens the documentation.
`;
}

export const ADDRESSES: string = `ID is the id of a conversation, or the start or the end of one. ID@ENTRY is an entry: its id, the
start or end of one, or a label.`;

function commandLine({ command: { name, summary } }: Pick<LoadedRow, "command">): string {
  return `  ${pad(name, COMMAND_WIDTH)} ${summary}\n`;
}

export function commandHelp(command: Command, aliases: readonly string[], { style, columns }: Sink): string {
  const { name, summary, about, examples, verbs = [], options } = command;
  const section = (title: string, text: string): string =>
    text === "" ? "" : `${style.bold(title)}\n${text}\n`;
  return [
    `${summary}\n\n`,
    section(
      "Usage",
      usageLines(command)
        .map((line) => `  ${line}\n`)
        .join(""),
    ),
    about === "" ? "" : `${paragraphs(about, columns, "")}\n\n`,
    section(
      "Commands",
      verbs
        .map((verb) => commandLine({ command: { ...verb, name: verb.name.slice(name.length + 1) } }))
        .join(""),
    ),
    section("Options", verbs.length > 0 ? "" : optionLines(options, columns)),
    section("Examples", examples.map((example) => `  ${example}\n`).join("")),
    aliases.length === 0 ? "" : `Also: ${aliases.map((alias) => `holdfast ${alias}`).join(", ")}\n`,
    verbs.length > 0 ? `\`holdfast help ${name} COMMAND\` lists the options of each.\n` : "",
    "`holdfast help --all` lists the options of every command.\n",
  ].join("");
}

/** How a command is typed, one line per form. */
export function usageLines({
  name,
  forms,
  options,
}: Pick<Command, "name" | "forms" | "options">): readonly string[] {
  const hasOptions = optionsIn(options).length > 0;
  return forms.map((form) => {
    const [program = ""] = /\[-- .*/.exec(form) ?? [];
    const args = form.slice(0, form.length - program.length).trim();
    return ["holdfast", name, args, hasOptions ? "[options]" : "", program].filter(Boolean).join(" ");
  });
}

/** Wraps text to the terminal; lines that begin with two spaces stay as they are. */
function paragraphs(text: string, columns: number, indent: string): string {
  const width = Math.min(columns, WIDTH_MAX) - indent.length;
  return text
    .trim()
    .replaceAll(/(?<=\S)\n(?=[^\s])/g, " ")
    .split("\n")
    .flatMap((line) => (line.startsWith("  ") ? [line] : wrap(line, width)))
    .map((line) => `${indent}${line}`.trimEnd())
    .join("\n");
}

function optionLines(texts: OptionTexts, columns: number): string {
  const rows = Object.entries(texts).filter(([key, text]) => !key.startsWith("-") || text !== "");
  return table(
    rows.map(([key, text]) => [
      key.replace("...", ""),
      `${text}${key.endsWith("...") ? " (repeatable)" : ""}`,
    ]),
    columns,
  );
}

/** Rows of a name and its text, which wraps beside it. A name without a dash and without a text is a heading. */
function table(rows: readonly (readonly [string | number, string])[], columns: number): string {
  const width = Math.min(columns, WIDTH_MAX);
  const names = rows.filter(([, text]) => text !== "").map(([name]) => String(name).length);
  const column = Math.max(0, ...names.filter((length) => length <= NAME_MAX)) + 4;
  return rows
    .flatMap(([name, text], index) => {
      if (text === "") return [...(index === 0 ? [] : [""]), `  ${name}:`];
      const lines = wrap(text, Math.max(20, width - column)).map((line) => " ".repeat(column) + line);
      const head = `  ${name}`;
      const [first = "", ...others] = lines;
      return head.length + 2 > column ? [head, ...lines] : [pad(head, column) + first.trimStart(), ...others];
    })
    .map((line) => `${line}\n`)
    .join("");
}

export const helpCommand: Command = {
  name: "help",
  summary: "Explain a command",
  forms: ["[COMMAND...]"],
  about: `Without a command it lists the common ones. The man page is made from the same texts:
\`holdfast help --man > holdfast.1\`, then \`man ./holdfast.1\`.`,
  examples: ["holdfast help", "holdfast help --all", "holdfast help fork"],
  options: { "--all": "list every command, option and exit code", "--man": "print the man page" },
  async run({ io, args, json, flags }) {
    const rows = await loadCommands();
    if (args.length === 0) {
      if (json) return io.out.write(jsonLine({ commands: rows.map(({ command }) => jsonHelp(command)) }));
      if (flags.has("man")) return io.out.write(manPage(rows));
      return io.out.write(flags.has("all") ? fullHelp(rows, io.out) : shortHelp(rows, io.out));
    }
    const { command, rest } = await findCommand([...args, "--help"]);
    if (command === null || rest.length > 1)
      throw new LogError(
        "invalid_request",
        `Unknown command "${args.join(" ")}". See \`holdfast help --all\`.`,
      );
    if (json) return io.out.write(jsonLine({ commands: [jsonHelp(command)] }));
    const aliases = rows.find(({ name }) => name === command.name)?.aliases ?? [];
    return io.out.write(commandHelp(command, aliases, io.out));
  },
};

function jsonHelp({ name, summary, forms, options, examples }: Command): object {
  const usage = usageLines({ name, forms, options }).map((line) => line.slice(`holdfast ${name}`.length + 1));
  return { name, summary, usage, examples, options: optionsIn(options).filter(isShown) };
}

export function isShown({ description }: Option): boolean {
  return description !== "";
}

/** The man page, in the language of man pages. */
function manPage(rows: readonly LoadedRow[]): string {
  const escape = (text: string): string =>
    text.replaceAll("\\", "\\\\").replaceAll(/^[.']/gm, "\\&$&").replaceAll("-", "\\-");
  const list = (items: readonly (readonly [string, string])[]): string =>
    items.map(([head, text]) => `.TP\n.B ${escape(head)}\n${escape(text)}\n`).join("");
  const optionItems = (options: OptionTexts): readonly (readonly [string, string])[] =>
    Object.entries(options).filter(([key, text]) => key.startsWith("-") && text !== "");
  const commands = rows.map(({ command }) => {
    const { name, summary, about, examples, options } = command;
    const usage = usageLines(command)
      .map((line) => `${escape(line)}\n.br\n`)
      .join("");
    const text = about.trim() === "" ? "" : `.PP\n${escape(about.trim()).replaceAll(/\n\n+/g, "\n.PP\n")}\n`;
    const shown = examples.map((example) => `.br\n${escape(example)}\n`).join("");
    return `.SS ${escape(name)}\n${escape(summary)}.\n.PP\n${usage}${text}${list(optionItems(options))}.PP\nExamples:\n${shown}`;
  });
  return `.TH HOLDFAST 1 "" "Holdfast ${packageVersion()}"
.SH NAME
holdfast \\- durable conversations for AI agents
.SH SYNOPSIS
.B holdfast
COMMAND [options]
.SH OPTIONS
${list(optionItems(GLOBAL_OPTIONS))}.SH ADDRESSES
${escape(ADDRESSES)}
.SH COMMANDS
${commands.join("")}.SH EXIT STATUS
${list(EXIT_CODES.map(([status, text]) => [String(status), text]))}`;
}
