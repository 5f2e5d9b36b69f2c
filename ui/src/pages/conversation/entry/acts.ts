import { type Signal, signal } from "@preact/signals";
import { ApiError } from "#edges/http/client/index";
import type { Entry } from "#log/entry";
import { client } from "../../../data/api-client.ts";
import { say, warn } from "../../../frame/said.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import { changeQuery, navigate } from "../../../router/location.ts";
import { wordsOf } from "../../../text/message-words.ts";

/** Words that wait in the composer of a conversation. */
export const drafts: Signal<ReadonlyMap<string, string>> = signal(new Map());

export function setDraft(conversation: string, words: string): void {
  drafts.value = new Map(drafts.value).set(conversation, words);
}

/** Does something that the server may refuse, and says why where it does. */
export async function attempted<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    warn(
      error instanceof ApiError
        ? `${error.message}. ${error.next}`
        : "The server did not answer. Nothing is lost.",
    );
    return null;
  }
}

/** A fork ends before a person's words, which wait to be sent otherwise, and behind all else. */
export async function forkAt(
  conversation: string,
  { entry, noFork }: { readonly entry: Entry; readonly noFork: string | null },
): Promise<void> {
  if (noFork !== null) return say(noFork);
  const isPrompt = entry.type === "message" && entry.message.role === "user";
  const at = isPrompt ? (entry.parentId ?? entry.id) : entry.id;
  const made = await attempted(() => client.fork({ conversation, at }));
  if (made === null) return;
  if (isPrompt) setDraft(made.conversation, wordsOf(entry.message.content));
  navigate(conversationAddress(made.conversation));
  say(`Forked as ${made.conversation}. Files and external effects are not undone.`);
}

/** Other words in the place of a person's: a new branch; the old one stays. */
export async function resubmit(conversation: string, entry: string, content: string): Promise<boolean> {
  const begun = await attempted(() => client.edit({ conversation, entry, content }));
  if (begun === null) return false;
  changeQuery({ leaf: null, at: null });
  return true;
}

export async function setHidden(conversation: string, entry: string, hidden: boolean): Promise<void> {
  const done = await attempted(() => client.setHidden({ conversation, entry, hidden }));
  if (done !== null)
    say(hidden ? "Left out of the context from here on; it stays in the log" : "In the context again");
}

export async function setLabel(conversation: string, entry: string, label: string): Promise<void> {
  await attempted(() => client.setLabel({ conversation, entry, label: label === "" ? null : label }));
}
