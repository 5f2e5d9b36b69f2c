import type { ParseArgsOptionsConfig } from "node:util";
import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import {
  type AnyOperation,
  JsonText,
  type Operation,
  type OperationContext,
  perform,
  valueOf,
} from "#operations/operation";
import { type Fields, flagKind, isList, readText, type Schema } from "#operations/schemas";
import { findEntry } from "./address.ts";
import { answer, type Call, type Command, jsonLine, remark, type Sink } from "./command.ts";

/** What is the command line's own about an operation. */
export interface CommandView<Input, Output> {
  readonly about: string;
  readonly examples: readonly string[];
  /** Flags that say a field in another way; `complete` reads them. */
  readonly options?: ParseArgsOptionsConfig;
  /** What follows the name, where other flags than those of the row take part. */
  readonly usage?: readonly string[];
  /** Flags that are not called as their field is. */
  readonly flagNames?: { readonly [F in keyof Input]?: string };
  /** Fields that `complete` gives, or that have no flag. */
  readonly withoutFlag?: readonly (keyof Input)[];
  /** What the operation uses beside the store. */
  context?(call: Call): Partial<OperationContext>;
  /** Opens the store in another way than the kind of the operation asks for. */
  open?(call: Call): Promise<Holdfast>;
  complete?(input: Partial<Input>, call: Call): Partial<Input> | Promise<Partial<Input>>;
  /** The field whose items are printed one by one: --json has a line for each. */
  readonly rows?: keyof Output;
  /** Fields that --json has beside those of the operation. */
  json?(output: Output, input: Input, call: Call): object | Promise<object>;
  /** An empty text prints nothing. */
  text(output: Output, input: Input, out: Sink): string;
  /** What a reader also needs; it goes to standard error. */
  remarks?(output: Output, input: Input, call: Call): readonly string[] | Promise<readonly string[]>;
}

interface Argument {
  readonly field: string;
  /** The field of the entry in `conversation@entry`. */
  readonly entry: string | null;
  readonly isOptional: boolean;
  /** It takes every argument that follows. */
  readonly isRest: boolean;
}

/** The command of an operation: its arguments, flags, help and JSON follow from the row. */
export function operationCommand<I extends object, R extends object>(
  operation: Operation<I, R>,
  view: CommandView<I, R>,
): Command {
  const { kind, summary } = operation;
  const { name, args } = lineOf(operation);
  const flags = flagsOf(operation, args, view);
  const keyOption = kind === "act" && !flags.has("key") ? { key: { type: "string" } as const } : {};
  const options = { ...optionsOf(flags), ...keyOption };
  return {
    name,
    summary,
    usage: view.usage ?? [usageOf(args, options)],
    about: view.about,
    examples: view.examples,
    options: { ...options, ...view.options },
    ...(kind === "act" ? { writes: true } : {}),
    arity: [
      args.filter(({ isOptional }) => !isOptional).length,
      args.some(({ isRest }) => isRest) ? Number.POSITIVE_INFINITY : args.length,
    ],
    async run(call) {
      const holdfast = await (view.open?.(call) ?? call.open(kind === "act" ? {} : { readOnly: true }));
      const fields = {
        ...(await readArguments(holdfast, { args, input: operation.input }, call)),
        ...(await readFlags(holdfast, flags, call)),
      };
      const input = { ...fields, ...(await view.complete?.(fields as Partial<I>, call)) } as I;
      const output = await perform(operation, input, {
        holdfast,
        clock: systemClock,
        key: flags.has("key") ? undefined : call.flags.text("key"),
        ...view.context?.(call),
      });
      if (output instanceof JsonText) return call.io.out.write(`${output.text}\n`);
      if (!call.json)
        for (const line of (await view.remarks?.(output, input, call)) ?? []) await remark(call, line);
      if (call.json && view.rows !== undefined) {
        for (const row of output[view.rows] as readonly object[]) await call.io.out.write(jsonLine(row));
        return;
      }
      const extraFields = call.json ? await view.json?.(output, input, call) : {};
      const text = call.json ? null : view.text(output, input, call.io.out);
      if (text !== "") await answer(call, { ...output, ...extraFields }, () => text ?? "");
    },
  };
}

/** Reads `memory add content...`: the words that are no field of the input are the command's name. */
function lineOf({ cli = "", input }: Pick<AnyOperation, "cli" | "input">): {
  readonly name: string;
  readonly args: readonly Argument[];
} {
  const tokens = cli.split(" ");
  const args = tokens.map(argumentOf);
  const first = args.findIndex(({ field }, index) => index > 0 && Object.hasOwn(input, field));
  const count = first === -1 ? tokens.length : first;
  return { name: tokens.slice(0, count).join(" "), args: args.slice(count) };
}

function argumentOf(word: string): Argument {
  const [field = "", entry = null] = word.replaceAll(/[[\]]|\.{3}/g, "").split("@");
  return { field, entry, isOptional: word.startsWith("["), isRest: word.includes("...") };
}

interface Flag {
  readonly field: string;
  readonly schema: Schema;
}

/** The fields that are flags, by the names of these. */
function flagsOf<I extends object, R>(
  { input, local }: Operation<I, R>,
  args: readonly Argument[],
  { withoutFlag = [], flagNames = {} }: CommandView<I, R>,
): ReadonlyMap<string, Flag> {
  const others = new Set<unknown>([...args.flatMap(({ field, entry }) => [field, entry]), ...withoutFlag]);
  const names: { readonly [field: string]: string | undefined } = flagNames;
  return new Map(
    Object.entries({ ...input, ...local })
      .filter(([field, schema]) => !others.has(field) && flagKind(schema) !== null)
      .map(([field, schema]) => [names[field] ?? flagName(field), { field, schema }]),
  );
}

function optionsOf(flags: ReadonlyMap<string, Flag>): ParseArgsOptionsConfig {
  const option = (kind: string): ParseArgsOptionsConfig[string] =>
    kind === "flag"
      ? { type: "boolean" }
      : { type: "string", ...(kind === "list" ? { multiple: true } : {}) };
  return Object.fromEntries([...flags].map(([name, { schema }]) => [name, option(flagKind(schema) ?? "")]));
}

function flagName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function usageOf(args: readonly Argument[], options: ParseArgsOptionsConfig): string {
  const tokens = args.map(({ field, entry, isOptional, isRest }) => {
    const word = `${field === "conversation" ? "ID" : field.toUpperCase()}${entry === null ? "" : `@${entry.toUpperCase()}`}${isRest ? "..." : ""}`;
    return isOptional ? `[${word}]` : word;
  });
  const flags = Object.entries(options).map(([name, { type }]) =>
    type === "boolean" ? `[--${name}]` : `[--${name} ${name.toUpperCase()}]`,
  );
  return [...tokens, ...flags].join(" ");
}

async function readArguments(
  holdfast: Holdfast,
  { args, input }: { readonly args: readonly Argument[]; readonly input: Fields },
  call: Call,
): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [index, { field, entry, isRest }] of args.entries()) {
    const text = call.args[index];
    if (text === undefined) continue;
    if (isRest) fields[field] = restOf(call.args.slice(index), input[field]);
    else if (field !== "conversation") fields[field] = text;
    else if (entry === null) fields[field] = await findId(holdfast, text);
    else {
      const address = await readAddress(holdfast, text);
      fields[field] = address.conversation;
      if (address.entry !== null) fields[entry] = address.entry;
    }
  }
  return fields;
}

/** A list, or the words of one text. */
function restOf(texts: readonly string[], schema: Schema | undefined): unknown {
  return schema !== undefined && isList(schema) ? texts : texts.join(" ");
}

/** The pages of a list, each answered when the one before it was used. */
export async function* pagesOf<I extends object, R extends object>(
  operation: Operation<I, R>,
  input: object,
  { from = "cursor", ...context }: Omit<OperationContext, "clock"> & { readonly from?: "cursor" | "after" },
): AsyncGenerator<R> {
  let next: string | number | null | undefined;
  do {
    const page: object = next === undefined ? {} : { [from]: next };
    const output: R = valueOf(
      await perform(operation, { ...input, ...page }, { ...context, clock: systemClock }),
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
  const separator = text.indexOf("@");
  const { id, handle } = await findHandle(holdfast, separator === -1 ? text : text.slice(0, separator));
  return {
    conversation: id,
    entry: separator === -1 ? null : await findEntryId(handle, text.slice(separator + 1)),
  };
}

interface IdMatch {
  readonly id: string;
  /** Null: the text names no conversation, and the operation says so. */
  readonly handle: Conversation | null;
}

/** The id that a part of it names. What names nothing stays as it is, for the operation to reject. */
export async function findId(holdfast: Holdfast, text: string): Promise<string> {
  return (await findHandle(holdfast, text)).id;
}

async function findHandle(holdfast: Holdfast, text: string): Promise<IdMatch> {
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

async function readFlags(
  holdfast: Holdfast,
  names: ReadonlyMap<string, Flag>,
  { flags }: Call,
): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, { field, schema }] of names) {
    const kind = flagKind(schema);
    const [text, texts] = [flags.text(name), flags.list(name)];
    if (kind === "flag" && flags.has(name)) fields[field] = true;
    else if (kind === "list" && texts.length > 0) fields[field] = readText(schema, texts);
    else if (text !== undefined)
      fields[field] = field === "conversation" ? await findId(holdfast, text) : readText(schema, [text]);
  }
  return fields;
}
