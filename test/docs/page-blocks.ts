import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../edges/cli/cli-run.ts";

/** A fenced block of a page. `file`: it is saved under this name; `skip`: why it is not run. */
export interface PageBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly file: string | null;
  readonly skip: string | null;
  /** It keeps running, as in a second terminal, until the page ends. */
  readonly isBackground: boolean;
}

export interface Command {
  readonly line: string;
  readonly output: readonly string[];
}

const FENCE = /^( *)```(\w+)([^\n]*)\n([\s\S]*?)^\1```$/gm;

export function blocksOf(page: string): readonly PageBlock[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(FENCE)].map((match) => {
    const [, indent = "", language = "", info = "", code = ""] = match;
    const body = code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const option = (name: string): string | null => new RegExp(`${name}="([^"]+)"`).exec(info)?.[1] ?? null;
    return {
      page,
      line: text.slice(0, match.index).split("\n").length,
      language,
      text: body,
      file: option("file") ?? /^(?:\/\/|#|--) ([\w.-]+\.\w+)\n/.exec(body)?.[1] ?? null,
      skip: option("skip"),
      isBackground: info.includes("background"),
    };
  });
}

/** The commands of a console block, each with the output below it; a line that begins with `> ` continues a command. */
export function commandsIn(text: string): readonly Command[] {
  const commands: { line: string; output: string[] }[] = [];
  for (const line of text.trimEnd().split("\n"))
    if (line.startsWith("$ ")) commands.push({ line: line.slice(2), output: [] });
    else if (line.startsWith("> ") && commands.at(-1)?.output.length === 0)
      commands.splice(-1, 1, { line: `${commands.at(-1)?.line}\n${line.slice(2)}`, output: [] });
    else if (line !== "") commands.at(-1)?.output.push(line);
  return commands;
}

/** Whether a program printed what a page shows: `…` is any text of a line, and alone any lines. */
export function isShown(printed: string, shown: readonly string[]): boolean {
  const lines = shown.map((line) => {
    if (line.trim() === "…") return "(?:.*\n)*?";
    const parts = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    return `${parts.join(".*")}[ \t]*\n`;
  });
  const text = printed
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");
  return new RegExp(`^${lines.join("")}$`).test(text === "" ? "" : `${text}\n`);
}
