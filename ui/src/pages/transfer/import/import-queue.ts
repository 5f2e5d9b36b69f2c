import { type Signal, signal } from "@preact/signals";
import { client } from "../../../data/api-client.ts";
import type { DroppedFile } from "../../../data/dropped-files.ts";
import { health } from "../../../frame/store-foot.tsx";
import { bytesText } from "../../../parts/numbers.ts";
import { failureWords, type ImportAnswer, type ImportFailure, planOf } from "./import-words.ts";

/** A file on its way in. It is looked at first; nothing of it is written before somebody says so. */
export interface ImportItem {
  readonly file: File;
  /** Under which an import that broke off is gone on with. */
  readonly key: string;
  readonly state: "checking" | "checked" | "importing" | "done" | "failed";
  readonly answer: ImportAnswer | null;
  readonly failure: ImportFailure | null;
  readonly asNew: boolean;
  readonly salvage: boolean;
}

/** In the order they were dropped. */
export const items: Signal<readonly ImportItem[]> = signal([]);

function change(key: string, members: Partial<ImportItem>): void {
  items.value = items.value.map((item) => (item.key === key ? Object.assign({}, item, members) : item));
}

export function forget(key: string): void {
  items.value = items.value.filter((item) => item.key !== key);
}

export function setAsNew(key: string, asNew: boolean): void {
  change(key, { asNew });
}

/** What is no file of a size that the server takes is not sent. */
function refusalOf({ file, isFolder }: DroppedFile): ImportFailure | null {
  const words = { problems: [], isSalvageable: false };
  if (isFolder)
    return {
      ...words,
      what: "This is a folder.",
      next: "Drop the files inside it instead.",
    };
  const max = health.value?.importBytes;
  if (max === undefined || file.size <= max) return null;
  return {
    ...words,
    what: `It has ${bytesText(file.size)}; this server takes files of up to ${bytesText(max)}.`,
    next: "Nothing was sent or imported.",
  };
}

/** One after the other: each is read by the server whole. */
let working: Promise<void> = Promise.resolve();

function afterOthers(work: () => Promise<void>): Promise<void> {
  working = working.then(work);
  return working;
}

export function addFiles(files: readonly DroppedFile[]): void {
  const added = files.map((dropped): ImportItem => {
    const failure = refusalOf(dropped);
    return {
      file: dropped.file,
      key: crypto.randomUUID(),
      state: failure === null ? "checking" : "failed",
      answer: null,
      failure,
      asNew: false,
      salvage: false,
    };
  });
  items.value = [...items.value, ...added];
  for (const { key, state } of added) if (state === "checking") void afterOthers(() => check(key));
}

async function check(key: string): Promise<void> {
  const item = items.value.find((one) => one.key === key);
  if (item === undefined) return;
  const { file, salvage } = item;
  try {
    const answer = await client.importFile({ file, dryRun: true, salvage });
    change(key, { state: "checked", answer, failure: null, asNew: planOf(answer) === "refused" });
  } catch (error) {
    change(key, { state: "failed", failure: failureWords(error) });
  }
}

/** Looks again, for what can be reached of a damaged file. */
export function checkWhatCanBeReached(key: string): void {
  change(key, { state: "checking", salvage: true });
  void afterOthers(() => check(key));
}

/** Whether it would bring anything. */
export function isWanted({ state, answer, asNew }: ImportItem): boolean {
  return state === "checked" && answer !== null && (asNew || planOf(answer) === "import");
}

export async function importAll(): Promise<void> {
  const wanted = items.value.filter(isWanted);
  for (const { key } of wanted) change(key, { state: "importing" });
  for (const { key } of wanted) await afterOthers(() => bring(key));
}

async function bring(key: string): Promise<void> {
  const item = items.value.find((one) => one.key === key);
  if (item === undefined) return;
  const { file, asNew, salvage } = item;
  try {
    const answer = await client.importFile({ file, asNew, salvage }, { key });
    change(key, { state: "done", answer });
  } catch (error) {
    change(key, { state: "failed", failure: failureWords(error) });
  }
}
