import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ConversationView, ThreadPage } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { AnswerOrder } from "../../data/answer-order.ts";
import { client, connection, isPassing } from "../../data/api-client.ts";
import { noteIssues } from "../../data/issue-counts-shown.ts";
import { live } from "../../data/live-stream.ts";
import { useAgain } from "../../data/loaded.ts";

export interface OpenedConversation {
  readonly view: ConversationView;
  /** A turn is under way, wherever it runs. */
  readonly isWorking: boolean;
  /** A replay made it; null: it is a fork, and nobody asked. */
  readonly isReplay: boolean | null;
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

/** The last seq that the stream told: an answer that does not have it yet is behind what is shown. */
let toldSeq = 0;
const order = new AnswerOrder();

async function load(conversation: string): Promise<void> {
  const isTaken = order.ask();
  try {
    const view = await client.getConversation({ conversation });
    if (shown.value.conversation === conversation && isTaken()) take(view, shown.value.opened?.isReplay);
  } catch (error) {
    if (shown.value.conversation === conversation) shown.value = { ...shown.value, error };
  }
}

function take(view: ConversationView, known: boolean | null = null): void {
  const { conversation, opened } = shown.value;
  const isBehind = opened !== null && view.headSeq < toldSeq;
  const isWorking = isBehind ? opened.isWorking : view.openTurn?.left === false;
  const isReplay = view.origin === null ? false : known;
  shown.value = { conversation, opened: { view, isWorking, isReplay }, error: null };
}

/** The header comes with the thread, too. */
export function takeHeader({ conversation, header, issues, replay }: ThreadPage): void {
  if (shown.value.conversation !== conversation || !order.ask()()) return;
  if (issues !== null) noteIssues(conversation, { headSeq: header.headSeq, issues });
  if (header.headSeq >= (shown.value.opened?.view.headSeq ?? 0)) take(header, replay);
}

export function failHeader(conversation: string, error: unknown): void {
  if (shown.value.conversation === conversation) shown.value = { ...shown.value, error };
}

export function noteTold(conversation: string, { type, seq }: Entry): void {
  const { opened } = shown.value;
  if (shown.value.conversation !== conversation || opened === null) return;
  toldSeq = seq;
  // Words that are written now steer a turn, or begin one: that is not left to the next answer of the server.
  if (type === "turn_start" || type === "turn_end")
    shown.value = { ...shown.value, opened: { ...opened, isWorking: type === "turn_start" } };
}

/** Asks for it, and again when something happens that its header shows; beside a thread, that brings the header along. */
export function useConversation(
  conversation: string,
  isThread: boolean,
): Omit<Shown, "conversation"> & { readonly reload: () => void } {
  useEffect(() => {
    toldSeq = 0;
    shown.value = { conversation, opened: null, error: null };
  }, [conversation]);
  useEffect(() => {
    if (!isThread && shown.value.opened === null) void load(conversation);
  }, [conversation, isThread]);
  const isLoaded = shown.value.conversation === conversation && shown.value.opened !== null;
  useEffect(() => {
    const after = shown.value.opened?.view.headSeq;
    if (isThread || !isLoaded || after === undefined) return undefined;
    return live.watch(conversation, after, (entry) => {
      noteTold(conversation, entry);
      if (TELLING.has(entry.type)) void load(conversation);
    });
  }, [conversation, isLoaded, isThread]);
  // What was missed while nobody answered, and a turn whose carrier went without a word.
  const isWorking = isLoaded && shown.value.opened?.isWorking === true;
  const isLive = connection.value === "live";
  useEffect(() => {
    if (isLoaded && isLive) void load(conversation);
  }, [conversation, isLive]);
  // One that was erased says so: it is not on the page any more than it is in the store.
  const isGone = live.gone.value === conversation;
  useEffect(() => {
    if (isGone) void load(conversation);
  }, [conversation, isGone]);
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(() => void load(conversation), LOOK_MS);
    return () => clearInterval(timer);
  }, [conversation, isWorking]);
  const { opened, error } = shown.value;
  const reload = (): void => void load(conversation);
  useAgain(error, reload);
  // What is on the page stays while nobody answers.
  const isShown = isLoaded && isPassing(error);
  return { opened: isLoaded ? opened : null, error: isShown ? null : error, reload };
}

/** The same for a tab, which is shown beneath the header; null until it is there. */
export function openedConversation(conversation: string): OpenedConversation | null {
  return shown.value.conversation === conversation ? shown.value.opened : null;
}
