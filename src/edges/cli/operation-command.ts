import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import {
  type AnyOperation,
  JsonText,
  type Operation,
  type OperationContext,
  perform,
  valueOf,
} from "#operations/operation";
import { type Fields, isList, readText, type Schema } from "#operations/schemas";
import { findEntry } from "./address.ts";
import { optionsIn, type OptionTexts } from "./options.ts";
import { answer, type Call, type Command, jsonLine, remark, type Sink } from "./command.ts";

/** What is the command line's own about an operation. */
export interface CommandView<Input, Output> {
  readonly about?: string;
  readonly examples: readonly string[];
  /** In place of the arguments of the row, where help writes them otherwise. */
  readonly forms?: readonly string[];
  /** An option sets the field of its name; `complete` reads those of other names. */
  readonly options?: OptionTexts;
  /** Options that are not called as their field is. */
  readonly optionFields?: Readonly<Record<string, keyof Input>>;
  /** What the operation uses beside the store. */
  context?(call: Call): Partial<OperationContext>;
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

const KEY: OptionTexts = { "--key KEY": "make retries safe: Holdfast runs the command once per key" };

/** The command of an operation: its arguments, options, help and JSON follow from the row. */
export function operationCommand<I extends object, R extends object>(
  operation: Operation<I, R>,
  view: CommandView<I, R>,
): Command {
  const { kind, summary } = operation;
  const { name, args } = lineOf(operation);
  const fields = { ...operation.input, ...operation.local };
  const hasKey = kind === "act" && !Object.hasOwn(view.optionFields ?? {}, "key");
  const options = { ...view.options, ...(hasKey ? KEY : {}) };
  return {
    name,
    summary,
    forms: view.forms ?? [args.map(argumentText).join(" ")],
    about: view.about ?? "",
    examples: view.examples,
    options,
    ...(kind === "act" ? { writes: true } : {}),
    async run(call) {
      checkForm(name, args, call.args);
      const holdfast = await call.open(kind === "act" ? {} : { readOnly: true });
      const read = {
        ...(await readArguments(holdfast, { args, input: operation.input }, call)),
        ...(await readFlags(holdfast, { options, fields, names: view.optionFields ?? {} }, call)),
      };
      const input = { ...read, ...(await view.complete?.(read as Partial<I>, call)) } as I;
      const output = await perform(operation, input, {
        holdfast,
        clock: systemClock,
        key: hasKey ? call.flags.text("key") : undefined,
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

/** Rejects an address without the entry that the command needs, before any store is opened. */
function checkForm(name: string, args: readonly Argument[], texts: readonly string[]): void {
  for (const [index, argument] of args.entries()) {
    const text = texts[index];
    if (text === undefined || argument.entry === null || argument.isOptional) continue;
    if (!/^[^@]+@[^]+$/.test(text))
      throw new LogError("invalid_request", `\`${name}\` needs ${argumentText(argument)}, not "${text}"`);
  }
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

function argumentText({ field, entry, isOptional, isRest }: Argument): string {
  const id = field === "conversation" ? "ID" : field.toUpperCase();
  const word = `${id}${entry === null ? "" : `@${entry.toUpperCase()}`}${isRest ? "..." : ""}`;
  return isOptional ? `[${word}]` : word;
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

interface OptionFields {
  readonly options: OptionTexts;
  readonly fields: Fields;
  /** The fields of options that are called otherwise. */
  readonly names: Readonly<Record<string, PropertyKey | undefined>>;
}

async function readFlags(
  holdfast: Holdfast,
  { options, fields, names }: OptionFields,
  { flags }: Call,
): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const { name } of optionsIn(options)) {
    const field = String(
      names[name] ?? name.replaceAll(/-[a-z]/g, ([, letter = ""]) => letter.toUpperCase()),
    );
    const schema = fields[field];
    if (schema === undefined) continue;
    const [text, texts] = [flags.text(name), flags.list(name)];
    if (flags.has(name)) read[field] = true;
    else if (texts.length > 0) read[field] = readText(schema, texts);
    else if (text !== undefined)
      read[field] = field === "conversation" ? await findId(holdfast, text) : readText(schema, [text]);
  }
  return read;
}
