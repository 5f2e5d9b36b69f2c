import type { ParseArgsOptionsConfig } from "node:util";
import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import { JsonText, type Operation, perform, valueOf } from "#operations/operation";
import { type Fields, flagKind, readText } from "#operations/schemas";
import { findEntry } from "./address.ts";
import { answer, type Call, type Command, remark } from "./command.ts";

/** What is the command line's own about an operation. */
export interface CommandView<Input, Output> {
  readonly about: string;
  readonly examples: readonly string[];
  /** Flags that say a field in another way; `complete` reads them. */
  readonly options?: ParseArgsOptionsConfig;
  /** What follows the name, where other flags than those of the row take part. */
  readonly usage?: readonly string[];
  /** Fields that `complete` gives, which have no flag of their own. */
  readonly withoutFlag?: readonly (keyof Input)[];
  complete?(input: Partial<Input>, call: Call): Partial<Input>;
  /** Fields that --json has beside those of the operation. */
  json?(output: Output, input: Input, conversation: Conversation): object | Promise<object>;
  /** An empty text prints nothing. */
  text(output: Output, input: Input): string;
  /** What a reader also needs; it goes to standard error. */
  remarks?(output: Output, input: Input): readonly string[];
}

interface Argument {
  readonly field: string;
  /** The field of the entry in `conversation@entry`. */
  readonly entry: string | null;
  readonly isOptional: boolean;
}

/** The command of an operation: its arguments, flags, help and JSON follow from the row. */
export function operationCommand<I extends object, R extends object>(
  operation: Operation<I, R>,
  view: CommandView<I, R>,
): Command {
  const { cli = "", kind, summary, input, local } = operation;
  const [name = "", ...words] = cli.split(" ");
  const args = words.map(argumentOf);
  const named = new Set<unknown>([
    ...args.flatMap(({ field, entry }) => [field, entry]),
    ...(view.withoutFlag ?? []),
  ]);
  const fields = Object.fromEntries(
    Object.entries({ ...input, ...local }).filter(
      ([field, schema]) => !named.has(field) && flagKind(schema) !== null,
    ),
  );
  const options = { ...optionsOf(fields), ...(kind === "act" ? { key: { type: "string" } as const } : {}) };
  return {
    name,
    summary,
    usage: view.usage ?? [usageOf(args, options)],
    about: view.about,
    examples: view.examples,
    options: { ...options, ...view.options },
    ...(kind === "act" ? { writes: true } : {}),
    arity: [args.filter(({ isOptional }) => !isOptional).length, args.length],
    async run(call) {
      const holdfast = await call.open(kind === "act" ? {} : { readOnly: true });
      const read = { ...(await readArguments(holdfast, args, call)), ...readFlags(fields, call) };
      const full = { ...read, ...view.complete?.(read as Partial<I>, call) } as I;
      const output = await perform(operation, full, {
        holdfast,
        clock: systemClock,
        key: call.flags.text("key"),
      });
      if (output instanceof JsonText) return call.io.out.write(`${output.text}\n`);
      const { conversation } = output as { readonly conversation?: string };
      const more =
        view.json === undefined || conversation === undefined
          ? {}
          : await view.json(output, full, await holdfast.conversation(conversation));
      if (!call.json) for (const line of view.remarks?.(output, full) ?? []) await remark(call, line);
      const text = call.json ? null : view.text(output, full);
      if (text !== "") await answer(call, { ...output, ...more }, () => text ?? "");
    },
  };
}

function argumentOf(word: string): Argument {
  const isOptional = word.startsWith("[");
  const [field = "", entry = null] = word.replaceAll(/[[\]]/g, "").split("@");
  return { field, entry, isOptional };
}

function optionsOf(fields: Fields): ParseArgsOptionsConfig {
  const option = (kind: string): ParseArgsOptionsConfig[string] =>
    kind === "flag"
      ? { type: "boolean" }
      : { type: "string", ...(kind === "list" ? { multiple: true } : {}) };
  return Object.fromEntries(
    Object.entries(fields).map(([field, schema]) => [flagName(field), option(flagKind(schema) ?? "")]),
  );
}

function flagName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function usageOf(args: readonly Argument[], options: ParseArgsOptionsConfig): string {
  const words = args.map(({ field, entry, isOptional }) => {
    const word = `${field === "conversation" ? "ID" : field.toUpperCase()}${entry === null ? "" : `@${entry.toUpperCase()}`}`;
    return isOptional ? `[${word}]` : word;
  });
  const flags = Object.entries(options).map(([name, { type }]) =>
    type === "boolean" ? `[--${name}]` : `[--${name} ${name.toUpperCase()}]`,
  );
  return [...words, ...flags].join(" ");
}

async function readArguments(
  holdfast: Holdfast,
  args: readonly Argument[],
  call: Call,
): Promise<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const [index, { field, entry }] of args.entries()) {
    const text = call.args[index];
    if (text === undefined) continue;
    if (field !== "conversation") read[field] = text;
    else if (entry === null) read[field] = await findId(holdfast, text);
    else {
      const address = await readAddress(holdfast, text);
      read[field] = address.conversation;
      if (address.entry !== null) read[entry] = address.entry;
    }
  }
  return read;
}

/** The pages of a list, each answered when the one before it was used. */
export async function* pagesOf<I extends object, R extends object>(
  operation: Operation<I, R>,
  input: object,
  { holdfast, from = "cursor" }: { readonly holdfast: Holdfast; readonly from?: "cursor" | "after" },
): AsyncGenerator<R> {
  let next: string | number | null | undefined;
  do {
    const page: object = next === undefined ? {} : { [from]: next };
    const output: R = valueOf(
      await perform(operation, { ...input, ...page }, { holdfast, clock: systemClock }),
    );
    yield output;
    ({ next } = output as { readonly next?: string | number | null });
  } while (next !== null && next !== undefined);
}

/** What `ID@ENTRY` names, each by its whole id. What names nothing stays as it is, for the operation to reject. */
export async function readAddress(
  holdfast: Holdfast,
  text: string,
): Promise<{ readonly conversation: string; readonly entry: string | null }> {
  const at = text.indexOf("@");
  const { id, handle } = await findHandle(holdfast, at === -1 ? text : text.slice(0, at));
  return { conversation: id, entry: at === -1 ? null : await findEntryId(handle, text.slice(at + 1)) };
}

interface FoundId {
  readonly id: string;
  /** Null: the text names no conversation, and the operation says so. */
  readonly handle: Conversation | null;
}

/** The id that a part of it names. What names nothing stays as it is, for the operation to reject. */
export async function findId(holdfast: Holdfast, text: string): Promise<string> {
  return (await findHandle(holdfast, text)).id;
}

async function findHandle(holdfast: Holdfast, text: string): Promise<FoundId> {
  try {
    const handle = await holdfast.find(text);
    return { id: handle.id, handle };
  } catch (error) {
    if (!isLogError(error, "conversation_not_found") && !isLogError(error, "invalid_id")) throw error;
    return { id: text, handle: null };
  }
}

/** The id of the entry that a label or a part of an id names. What could be an id is for the operation to reject. */
export async function findEntryId(conversation: Conversation | null, text: string): Promise<string> {
  if (conversation === null) return text;
  try {
    return await findEntry(conversation, text);
  } catch (error) {
    if (!isLogError(error, "entry_not_found")) throw error;
    try {
      return parseEntryId(text);
    } catch {
      throw error;
    }
  }
}

function readFlags(fields: Fields, { flags }: Call): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(fields)) {
    const name = flagName(field);
    const kind = flagKind(schema);
    const [text, texts] = [flags.text(name), flags.list(name)];
    if (kind === "flag" && flags.has(name)) read[field] = true;
    else if (kind === "list" && texts.length > 0) read[field] = readText(schema, texts);
    else if (text !== undefined) read[field] = readText(schema, [text]);
  }
  return read;
}
