import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Conversation } from "#conversation/conversation";
import type { EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { type UserMessage, textOfBlocks } from "#log/message";
import type { Call } from "#edges/cli/command";

const NOTHING = "nothing was forked";

export interface EditedPrompt {
  /** The entry that the fork begins behind. */
  readonly before: EntryId;
  readonly message: UserMessage;
}

/** A message of a person's with other words: those of an editor, or of standard input where that is a pipe. */
export async function editedPrompt(
  call: Call,
  conversation: Conversation,
  entry: EntryId | null,
): Promise<EditedPrompt> {
  const { id, parentId, message } = await promptAt(conversation, entry);
  const old = textOfBlocks(message.content, "\n");
  const text = (call.io.stdinIsTerminal ? await inEditor(call, old) : await piped(call)).trimEnd();
  if (text === "" || text === old.trimEnd())
    throw new LogError(
      "invalid_request",
      `The words of ${id} are ${text === "" ? "empty" : "the same"}; ${NOTHING}`,
    );
  if (parentId === null) throw new LogError("invalid_request", `Nothing stands before ${id}; ${NOTHING}`);
  const others = message.content.filter((block) => block.type !== "text");
  return { before: parentId, message: { role: "user", content: [{ type: "text", text }, ...others] } };
}

async function promptAt(
  conversation: Conversation,
  entry: EntryId | null,
): Promise<EntryOf<"message"> & { readonly message: UserMessage }> {
  const found =
    entry === null
      ? (await conversation.branch()).findLast((one) => one.type === "message" && one.message.role === "user")
      : await conversation.entry(entry);
  if (found?.type === "message" && found.message.role === "user") return { ...found, message: found.message };
  throw new LogError(
    "invalid_request",
    `--edit takes a message of a person's, and there is none there; ${NOTHING}`,
  );
}

async function piped({ io }: Call): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of io.stdin) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

async function inEditor({ io }: Call, text: string): Promise<string> {
  const editor = io.env["VISUAL"] || io.env["EDITOR"];
  if (!editor)
    throw new LogError(
      "invalid_request",
      `Set $EDITOR to say what edits texts, or pipe the words in; ${NOTHING}`,
    );
  const folder = await mkdtemp(join(tmpdir(), "holdfast-edit-"));
  try {
    const file = join(folder, "prompt.md");
    await writeFile(file, text, { mode: 0o600 });
    // As others do it: the variable may hold options.
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env: io.env });
    const [status] = (await once(child, "exit")) as [number | null];
    if (status !== 0) throw new LogError("invalid_request", `The editor ended with ${status}; ${NOTHING}`);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
