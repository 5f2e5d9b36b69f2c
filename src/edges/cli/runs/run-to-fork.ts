import { readFile } from "node:fs/promises";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { findEntryId } from "#edges/cli/operation-command";
import type { Flags } from "#edges/cli/command";

/** A run by its whole id, and where in it a fork begins. */
export interface RunToFork {
  readonly run: string;
  readonly conversation: string;
  readonly at?: string;
}

/** RUN or RUN@ENTRY; null where the text is a conversation's, whose ids come first, or no run's. */
export async function findRunToFork(holdfast: Holdfast, text: string): Promise<RunToFork | null> {
  const cut = text.indexOf("@");
  const [name, entry] = cut === -1 ? [text, null] : [text.slice(0, cut), text.slice(cut + 1)];
  if (name === "" || entry === "" || (await isConversation(holdfast, name))) return null;
  const row = await holdfast.run(name);
  if (row === null) return null;
  const { run, conversation } = row;
  if (entry === null) return { run, conversation };
  return { run, conversation, at: await findEntryId(await holdfast.conversation(conversation), entry) };
}

async function isConversation(holdfast: Holdfast, id: string): Promise<boolean> {
  try {
    await holdfast.conversation(id);
    return true;
  } catch (error) {
    if (isLogError(error, "conversation_not_found") || isLogError(error, "invalid_id")) return false;
    throw error;
  }
}

/** What is to be other than in the run. */
export async function overridesOf(
  flags: Flags,
): Promise<{ readonly model?: string; readonly tools?: readonly string[]; readonly system?: string }> {
  const [model, tools, patch] = [flags.text("model"), flags.text("tools"), flags.text("patch-system")];
  const names = tools?.split(",").map((name) => name.trim());
  if (names?.includes("") === true)
    throw new LogError("invalid_request", "--tools takes names of tools with a comma between them");
  return {
    ...(model === undefined ? {} : { model }),
    ...(names === undefined ? {} : { tools: names }),
    ...(patch === undefined ? {} : { system: await readPatch(patch) }),
  };
}

async function readPatch(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new LogError("invalid_request", `--patch-system: ${file} cannot be read`, { file }, { cause });
  });
  if (text.trim() === "") throw new LogError("invalid_request", `--patch-system: ${file} is empty`, { file });
  return text;
}
