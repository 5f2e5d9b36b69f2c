import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConversationView } from "#edges/http/client/index";
import type { Entry } from "#log/entry";
import { client, connection } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";

export interface OpenedConversation {
  readonly view: ConversationView;
  /** A turn is under way, wherever it runs. */
  readonly isWorking: boolean;
}

interface Shown {
  readonly conversation: string;
  readonly opened: OpenedConversation | null;
  readonly error: unknown;
}

/** The conversation that is open, for its header and every tab. */
const shown: Signal<Shown> = signal({ conversation: "", opened: null, error: null });

/** What changes the header: turns, titles, and who writes. */
const TELLING: ReadonlySet<Entry["type"]> = new Set([
  "turn_start",
  "turn_end",
  "title",
  "metadata",
  "model_change",
  "upstream_link",
  "leaf",
]);

const LOOK_MS = 3_000;

async function load(conversation: string): Promise<void> {
  try {
    const view = await client.getConversation({ conversation });
    if (shown.value.conversation !== conversation) return;
    shown.value = { conversation, opened: { view, isWorking: view.openTurn?.left === false }, error: null };
  } catch (error) {
    if (shown.value.conversation === conversation) shown.value = { ...shown.value, error };
  }
}

function noteWorking(conversation: string, isWorking: boolean): void {
  const { opened } = shown.value;
  if (shown.value.conversation === conversation && opened !== null)
    shown.value = { ...shown.value, opened: { ...opened, isWorking } };
}

/** Asks for it, and again when something happens that its header shows. */
export function useConversation(
  conversation: string,
): Omit<Shown, "conversation"> & { readonly reload: () => void } {
  useEffect(() => {
    shown.value = { conversation, opened: null, error: null };
    void load(conversation);
  }, [conversation]);
  const isLoaded = shown.value.conversation === conversation && shown.value.opened !== null;
  useEffect(() => {
    const after = shown.value.opened?.view.headSeq;
    if (!isLoaded || after === undefined) return undefined;
    return live.watch(conversation, after, ({ type }) => {
      // Words that are written now steer a turn, or begin one: that is not left to the next answer of the server.
      if (type === "turn_start" || type === "turn_end") noteWorking(conversation, type === "turn_start");
      if (TELLING.has(type)) void load(conversation);
    });
  }, [conversation, isLoaded]);
  // What was missed while nobody answered, and a turn whose carrier went without a word.
  const isWorking = isLoaded && shown.value.opened?.isWorking === true;
  const isLive = connection.value === "live";
  useEffect(() => {
    if (isLoaded && isLive) void load(conversation);
  }, [conversation, isLive]);
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(() => void load(conversation), LOOK_MS);
    return () => clearInterval(timer);
  }, [conversation, isWorking]);
  const { opened, error } = shown.value;
  return { opened: isLoaded ? opened : null, error, reload: () => void load(conversation) };
}

/** The same for a tab, which is shown beneath the header; null until it is there. */
export function openedConversation(conversation: string): OpenedConversation | null {
  return shown.value.conversation === conversation ? shown.value.opened : null;
}
