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
import { safeLine } from "#edges/cli/terminal/terminal";

export const append: Command = {
  name: "append",
  summary: "Adds entries from standard input, one JSON object per line",
  usage: ["ID [--key KEY] [--expect SEQ] [--outside]", "ID --each [--key KEY] [--expect SEQ] [--outside]"],
  about: `All lines are one batch: it is written whole or not at all, and on disk before the command
answers. Each line is an entry: its type and payload; id, parentId and time are made for
you. The parent is the leaf, or the entry before it. Blank lines are skipped.

  --key KEY     the same key is written once; a retry is answered with what is stored
  --expect SEQ  only if nobody else wrote after this seq; otherwise exit 4
  --outside     facts from outside a turn (steer, hide, label, title, upstream_end): they
                never move the leaf and never get in the way of whoever is writing
  --each        every line is an append of its own, acknowledged by one line
                {"seq":…,"id":…} once it is durable. The first bad line ends it; what was
                acknowledged stays. With --key the key of a line is KEY/<line number>.`,
  examples: [
    `echo '{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hi"}]}}' | holdfast append ID`,
    `echo '{"type":"model_change","model":"example-2"}' | holdfast append ID --key switch-1`,
    `agent --stream-jsonl | holdfast append ID --each`,
  ],
  options: {
    key: { type: "string" },
    expect: { type: "string" },
    outside: { type: "boolean" },
    each: { type: "boolean" },
  },
  writes: true,
  arity: [1, 1],
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
    throw new LogError("invalid_request", "There is nothing to append: standard input held no entries");
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
  const range = fromSeq === toSeq ? `entry ${toSeq}` : `entries ${fromSeq} to ${toSeq}`;
  if (!deduped) return `Stored ${range}, the last one is ${safeLine(lastId)}`;
  const other = differs ? " with another body; the stored one stands" : "";
  return `Stored before as ${range} under this key${other}; nothing was written`;
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
