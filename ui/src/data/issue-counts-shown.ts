import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "./api-client.ts";

interface Counted {
  /** Of the log that was counted. */
  readonly headSeq: number;
  readonly issues: number;
}

const counted: Signal<ReadonlyMap<string, Counted>> = signal(new Map());
/** What is on the screen wants to know, with how often it was asked for. */
const wanted = new Map<string, { readonly headSeq: number; readonly tries: number }>();
const ASKED_MAX = 100;
const TRIES_MAX = 30; // of a log that is so long that the server reads it over several requests
const [GATHER_MS, AGAIN_MS] = [120, 1_000];
let timer: ReturnType<typeof setTimeout> | undefined;

function soon(ms: number): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void ask();
  }, ms);
}

async function ask(): Promise<void> {
  const asked = [...wanted].slice(0, ASKED_MAX);
  if (asked.length === 0) return;
  for (const [conversation] of asked) wanted.delete(conversation);
  const found = await client
    .countIssues({ conversation: asked.map(([conversation]) => conversation) })
    .catch(() => null); // a badge that is missing is nobody's trouble
  if (found === null) return;
  const next = new Map(counted.value);
  const again: typeof asked = [];
  for (const { conversation, issues } of found.counts) {
    const one = asked.find(([id]) => id === conversation);
    if (one === undefined) continue;
    const [, { headSeq, tries }] = one;
    if (issues !== null) next.set(conversation, { headSeq, issues });
    else if (tries < TRIES_MAX) again.push([conversation, { headSeq, tries: tries + 1 }]);
  }
  counted.value = next;
  if (wanted.size > 0) soon(GATHER_MS);
  for (const [conversation, one] of again) wanted.set(conversation, one);
  if (again.length > 0) soon(AGAIN_MS);
}

/** What was counted with something else. */
export function noteIssues(conversation: string, found: Counted): void {
  counted.value = new Map(counted.value).set(conversation, found);
}

/** How many things to look at a conversation on the screen has; what is not known yet is none. Null: it is not asked for now. */
export function useIssueCount(conversation: string, headSeq: number | null): number {
  useEffect(() => {
    if (headSeq === null || counted.value.get(conversation)?.headSeq === headSeq) return;
    wanted.set(conversation, { headSeq, tries: 0 });
    soon(GATHER_MS);
  }, [conversation, headSeq]);
  return counted.value.get(conversation)?.issues ?? 0;
}
