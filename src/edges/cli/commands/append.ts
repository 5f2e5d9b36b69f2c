import type { Conversation } from "#conversation/conversation";
import { BATCH_ENTRIES_MAX } from "#log/batch";
import { parseBody } from "#log/body";
import { isLogError, LogError } from "#log/errors";
import { appendEntries } from "#operations/entries";
import { valueOf } from "#operations/operation";
import type { Written } from "#operations/schemas";
import { systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { atLine, type Line, readLines } from "#transfer/bundles/read-lines";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { counted, safeLine } from "#edges/cli/terminal/terminal";

export const append: Command = {
  name: "append",
  summary: "Append entries from standard input",
  forms: ["ID"],
  about: `Reads one JSON object per line: the type and payload of an entry. Holdfast adds id, parentId and
time. The parent is the current entry, or the entry of the line before. Empty lines are skipped.
All lines are one batch: Holdfast writes all of them or none, and prints a line once they are on
disk.`,
  examples: [
    `echo '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hi"}]}}' | holdfast append ID`,
    `echo '{"type":"model_change","model":"example-2"}' | holdfast append ID --key switch-1`,
    `agent --stream-jsonl | holdfast append ID --each`,
  ],
  options: {
    "--each":
      'append each line separately and print {"seq":…,"id":…} once it is on disk; the first invalid line stops the command, and with --key each line uses KEY/<line number>',
    "--key KEY": "make retries safe: Holdfast writes a key once and returns the stored result after that",
    "--expect SEQ": "append only if the log still ends at this seq; exit 4 if another writer appended",
    "--outside":
      "append annotations (steer, hide, label, title, upstream_end) without disturbing the process that runs a turn",
  },
  writes: true,
  async run(call) {
    const { flags, io, args } = call;
    const holdfast = await call.open();
    const conversation = await findConversation(holdfast, args[0] ?? "");
    const expected = flags.count("expect");
    if (io.stdinIsTerminal) await remark(call, "Reading entries, one JSON object per line; Ctrl-D ends.");
    const lines = filledLines(readLines(io.stdin));
    const writer: Writer = {
      call,
      holdfast,
      conversation,
      expected,
      key: flags.text("key"),
      outside: flags.has("outside"),
    };
    return flags.has("each") ? appendEach(writer, lines) : appendBatch(writer, lines);
  },
};

interface Writer {
  readonly call: Call;
  readonly holdfast: Holdfast;
  readonly conversation: Conversation;
  readonly expected: number | undefined;
  readonly key: string | undefined;
  readonly outside: boolean;
}

type FilledLine = Line & { readonly text: string };

/** The lines that hold something; one that cannot be read ends the reading with its number. */
async function* filledLines(lines: AsyncIterable<Line>): AsyncGenerator<FilledLine> {
  for await (const line of lines) {
    if (!("text" in line)) throw atLine(line.error, line);
    if (line.text.trim() === "") continue;
    withLineNumber(line, () => parseBody(line.text));
    yield line;
  }
}

function withLineNumber<T>(line: FilledLine, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isLogError(error) ? atLine(error, line) : error;
  }
}

/** Every line was checked when it was read, and is passed on in its exact text. */
async function write(
  { holdfast, conversation, outside }: Writer,
  texts: readonly string[],
  { key, expected }: { readonly key?: string; readonly expected?: number },
): Promise<Written> {
  const input = {
    conversation: conversation.id,
    entries: texts as readonly unknown[] as readonly object[],
    outside,
    ...(expected === undefined ? {} : { expected }),
  };
  return valueOf(await appendEntries.run(input, { holdfast, clock: systemClock, key }));
}

async function appendBatch(writer: Writer, lines: AsyncIterable<FilledLine>): Promise<void> {
  const { call, expected, key } = writer;
  const batch: FilledLine[] = [];
  for await (const line of lines) {
    if (batch.push(line) > BATCH_ENTRIES_MAX) {
      throw new LogError(
        "too_large",
        `One batch may have ${BATCH_ENTRIES_MAX} entries; use --each, or several batches`,
        { limit: BATCH_ENTRIES_MAX },
      );
    }
  }
  if (batch.length === 0)
    throw new LogError(
      "invalid_request",
      "Nothing to append: standard input was empty. Pipe one JSON entry per line",
    );
  const texts = batch.map((line) => line.text);
  const result = await write(writer, texts, {
    ...(key === undefined ? {} : { key }),
    ...(expected === undefined ? {} : { expected }),
  }).catch((error: unknown) => {
    throw isLogError(error) ? inBatch(error, batch) : error;
  });
  const value = { ...result, seq: result.toSeq, id: result.lastId };
  await answer(call, value, () => sentence(result));
}

/** An error about one entry of a batch, naming the line that entry came from. */
function inBatch(error: LogError, batch: readonly FilledLine[]): LogError {
  const { index } = error.details;
  const line = typeof index === "number" ? batch[index] : undefined;
  return line === undefined ? error : atLine(error, line);
}

function sentence({ fromSeq, toSeq, lastId, deduped, differs }: Written): string {
  const range = fromSeq === toSeq ? `seq ${toSeq}` : `seq ${fromSeq} to ${toSeq}`;
  const count = counted(toSeq - fromSeq + 1, "entry", "entries");
  if (!deduped) return `Appended ${count} (${range}, id ${safeLine(lastId)})`;
  const other = differs ? ", with another body: the stored one stays" : "";
  return `Already appended ${count} under this key (${range}${other})`;
}

async function appendEach(writer: Writer, lines: AsyncIterable<FilledLine>): Promise<void> {
  const { call, key } = writer;
  let { expected } = writer;
  for await (const line of lines) {
    const options = {
      ...(key === undefined ? {} : { key: `${key}/${line.number}` }),
      ...(expected === undefined ? {} : { expected }),
    };
    let result: Written;
    try {
      // One after the other: the next line's parent is this one, and a line behind a refused one must not be written.
      result = await write(writer, [line.text], options);
    } catch (error) {
      throw isLogError(error) ? atLine(error, line) : error;
    }
    const { toSeq, lastId, deduped, differs } = result;
    if (expected !== undefined) expected = Math.max(expected, toSeq);
    await call.io.out.write(
      `${JSON.stringify({ seq: toSeq, id: lastId, ...(deduped ? { deduped, differs } : {}) })}\n`,
    );
  }
}
