import { LogError } from "#log/errors";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, jsonSink, remark } from "#edges/cli/command";
import type { Conversation } from "#conversation/conversation";
import { copyLines, copyToFile } from "#edges/cli/bundles/export-file";
import { CONVERSATIONS_MAX } from "#transfer/lines/log-lines";
import { checkCount } from "#transfer/export-bundle";
import { exportLines } from "#transfer/lines/export-lines";
import { exportOrder } from "#transfer/lines/export-order";
import { counted } from "#edges/cli/terminal/count";
import { progressOn } from "#edges/cli/terminal/progress";
import { safeLine } from "#edges/cli/terminal/terminal";

export const exportCommand: Command = {
  name: "export",
  summary: "Writes conversations to a file that `import` reads anywhere",
  usage: ["ID [ID …] [--with-forks] [--format jsonl] [-o FILE [--force]] [--salvage]"],
  about: `A header line, then every entry on a line of its own, exactly as stored, with the links that
prove it and the images that entries name. Several conversations make one bundle: a fork whose
source is in it is written by its own entries, so that what they share is there once. Any other
fork is written whole: the branch it inherited first, then its own entries, numbered anew.

  --with-forks       with all forks of these conversations, and the forks of those
  --format jsonl     the one format there is for now
  -o, --output FILE  a new file readable by you alone; standard output unless given. A pipe or a
                     device is written into as it stands
  --force            replaces FILE if there is one
  --salvage          writes a log whose links do not hold, too: what is not proven is said, and
                     marked in the file, whose links are made anew`,
  examples: [
    "holdfast export ID -o chat.jsonl",
    "holdfast export ID --with-forks -o family.jsonl",
    "holdfast export ID | gzip > chat.jsonl.gz",
    "holdfast export ID | holdfast import - --as-new",
  ],
  options: {
    "with-forks": { type: "boolean" },
    format: { type: "string" },
    output: { type: "string", short: "o" },
    force: { type: "boolean" },
    salvage: { type: "boolean" },
  },
  arity: [1, CONVERSATIONS_MAX],
  async run(call) {
    const format = call.flags.text("format") ?? "jsonl";
    if (format !== "jsonl")
      throw new LogError(
        "invalid_request",
        `There is no export format "${format}"; jsonl is the one there is`,
        { format },
      );
    const conversations = await conversationsOf(call);
    const missing = new Set<string>();
    const unproven: { readonly wrong: string; readonly soundSeq: number }[] = [];
    const lines = exportLines(conversations, {
      exportedAt: new Date().toISOString(),
      onMissing: (digest) => void missing.add(digest),
      ...(call.flags.has("salvage")
        ? { onUnproven: (wrong: string, soundSeq: number) => void unproven.push({ wrong, soundSeq }) }
        : {}),
    });
    const file = call.flags.text("output") ?? "-";
    const progress = progressOn(call.io.err, "exporting");
    const { entries, blobs } =
      file === "-"
        ? await copyLines(lines, (text) => jsonSink(call.io.out).write(text), progress.step)
        : await copyToFile(lines, { file, force: call.flags.has("force") }, progress.step);
    progress.end();
    if (missing.size > 0 && !call.json)
      await remark(
        call,
        `${counted(missing.size, "image")} that entries name cannot be read and is not in this file: ${[...missing].join(", ")}`,
      );
    for (const { wrong, soundSeq } of unproven)
      await remark(
        call,
        `${wrong}. Entries after ${soundSeq} are unproven; they are in the file as they were read`,
      );
    const ids = conversations.map(({ id }) => id);
    if (file !== "-") await tell(call, { conversations: ids, file, entries, blobs, missing: [...missing] });
  },
};

async function conversationsOf(call: Call): Promise<readonly Conversation[]> {
  const holdfast = await call.open({ readOnly: true });
  const named: Conversation[] = [];
  for (const id of call.args) named.push(await findConversation(holdfast, id));
  const conversations = await exportOrder(holdfast, named, call.flags.has("with-forks"));
  checkCount(conversations.length);
  return conversations;
}

async function tell(
  call: Call,
  value: {
    readonly conversations: readonly string[];
    readonly file: string;
    readonly entries: number;
    readonly blobs: number;
    readonly missing: readonly string[];
  },
): Promise<void> {
  const [conversation] = value.conversations;
  await answer(call, { conversation, ...value }, () => {
    const of = value.conversations.length === 1 ? "" : ` of ${value.conversations.length} conversations`;
    const images = value.blobs === 0 ? "" : ` and ${counted(value.blobs, "image")}`;
    return `Wrote ${counted(value.entries, "entry", "entries")}${of}${images} to ${safeLine(value.file)}`;
  });
}
