import { subjectOf } from "#agent/tools/folder-path";
import type { PermissionRule } from "#agent/tools/permissions";
import type { Host } from "#turn/host";
import type { Io } from "#edges/cli/command";
import type { ChatInput } from "#edges/cli/chat/input/chat-input";
import type { Printer } from "#edges/cli/terminal/printer";
import { alwaysRule, ruleText } from "./always-rules.ts";
import { questionText } from "./question-text.ts";

interface AskParts {
  readonly io: Io;
  readonly printer: Printer;
  readonly input: ChatInput;
  readonly cwd: string;
  /** Allows calls like this one from now on; left out, every call is asked for. */
  readonly always?: (rule: PermissionRule) => Promise<void>;
}

type Word = "allow" | "deny" | "always";

/** Asks at the keyboard. Whoever leaves without an answer finds the question again. */
export function askPerson(parts: AskParts): NonNullable<Host["onPermission"]> {
  const { io, printer, input, cwd } = parts;
  return async ({ tool, input: given }, signal) => {
    const rule = parts.always === undefined ? null : alwaysRule(tool, await subjectOf(tool, given, cwd));
    printer.question(await questionText({ tool, input: given, cwd }));
    for (;;) {
      printer.hold();
      const said = await input
        .answer(io.out.style.cyan(promptText(rule)), (text) => wordIn(text, rule) !== null, signal)
        .finally(() => printer.letGo());
      if (said === "left") return "later";
      if (said === "nobody") {
        printer.fault(`${tool} was refused: it asks first, and the next line is no answer but a message`);
        return said;
      }
      if (io.keyboard === undefined && !io.stdinIsTerminal) printer.you(said.text);
      const word = wordIn(said.text, rule);
      if (word === "always" && rule !== null) await parts.always?.(rule);
      if (word !== null) return word === "deny" ? "deny" : "allow";
      printer.notice(
        `Please answer y or n${rule === null ? "" : `, or a for always (${ruleText(rule)}, in this conversation)`}; Ctrl-C stops the turn, Ctrl-D leaves the question for later.`,
      );
    }
  };
}

function promptText(rule: PermissionRule | null): string {
  return rule === null ? "Allow it? [y/n] " : `Allow it? [y/n, a: always ${ruleText(rule)}] `;
}

function wordIn(text: string, rule: PermissionRule | null): Word | null {
  const word = text.trim().toLowerCase();
  if (word === "y" || word === "yes") return "allow";
  if (word === "n" || word === "no") return "deny";
  return rule !== null && (word === "a" || word === "always") ? "always" : null;
}
