import { ApiError } from "#edges/http/client/index";
import type { ThreadRow } from "#edges/http/client/views";
import { forkProblemText } from "#operations/text";
import { client } from "../../../data/api-client.ts";
import { say, warn } from "../../../frame/said.tsx";
import { setDraft } from "../../../data/drafts.ts";
import { wayOn } from "../../../data/way-on.ts";
import { conversationAddress } from "../../../router/addresses.ts";
import { changeQuery, navigate, stayed } from "../../../router/location.ts";
import { wordsOf } from "../../../text/message-words.ts";

/** Does something that the server may refuse, and says why where it does. */
export async function attempted<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act();
  } catch (error) {
    warn(
      error instanceof ApiError
        ? `${error.message}. ${wayOn(error)}`
        : "The server did not respond. Nothing is lost.",
    );
    return null;
  }
}

const underWay = new Set<string>();

/** The same, for what must not be done twice: while it is being done, a second press is none. */
export async function attemptedOnce<T>(name: string, act: () => Promise<T>): Promise<T | null> {
  if (underWay.has(name)) return null;
  underWay.add(name);
  try {
    return await attempted(act);
  } finally {
    underWay.delete(name);
  }
}

/** A fork ends before a person's words, which wait to be sent otherwise, and behind all else. */
export async function forkAt(
  conversation: string,
  { entry, noFork }: Pick<ThreadRow, "entry" | "noFork">,
): Promise<void> {
  if (noFork !== null) return say(forkProblemText(noFork));
  const isPrompt = entry.type === "message" && entry.message.role === "user";
  const at = isPrompt ? (entry.parentId ?? entry.id) : entry.id;
  const isHere = stayed();
  const made = await attemptedOnce(`fork ${conversation} ${at}`, () => client.fork({ conversation, at }));
  if (made === null) return;
  if (isPrompt) setDraft(made.conversation, wordsOf(entry.message.content));
  if (isHere()) navigate(conversationAddress(made.conversation));
  say(`Forked as ${made.conversation}. Files and external effects are not undone.`);
}

/** Other words in the place of a person's: a new branch; the old one stays. */
export async function resubmit(conversation: string, entry: string, content: string): Promise<boolean> {
  const isHere = stayed();
  const begun = await attemptedOnce(`edit ${conversation} ${entry}`, () =>
    client.edit({ conversation, entry, content }),
  );
  if (begun === null) return false;
  if (isHere()) changeQuery({ leaf: null, at: null });
  return true;
}

export async function setHidden(conversation: string, entry: string, hidden: boolean): Promise<void> {
  const done = await attempted(() => client.setHidden({ conversation, entry, hidden }));
  if (done !== null)
    say(hidden ? "Hidden from the model from now on. The log keeps it." : "Shown to the model again");
}

export async function setLabel(conversation: string, entry: string, label: string): Promise<boolean> {
  const given = { conversation, entry, label: label === "" ? null : label };
  return (await attempted(() => client.setLabel(given))) !== null;
}
