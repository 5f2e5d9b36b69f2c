import type { AppendResult, StampedDraft } from "#log/batch";
import type { Draft } from "#log/body";
import type { EntryType } from "#log/entry";
import { plannedMembers } from "#log/entry-types";
import { resultFrom } from "#log/plans/plan-append";
import type { SummaryChange } from "#log/summary";
import type { Command, Outcome, Posted } from "./messages.ts";

// Appends and their outcomes as they travel: lists without names, since a copy between threads pays for every object and
// every name in it, on both sides.

type Append = Extract<Command, { kind: "append" }>;
export type FlatCommand = readonly unknown[];
export type FlatOutcome =
  | readonly [n: number, outcome: Outcome]
  | readonly [n: number, fromSeq: number, ownerLink: string | null];

const APPEND_MEMBERS = 9; // before its drafts
const CREATE_MEMBERS = 2;
const DRAFT_MEMBERS = 9;

export function flattenCommand({ n, command }: Posted): FlatCommand {
  if (command.kind === "append") {
    const { space, nowMs, request } = command;
    const { conversation, author, key, digest, durability } = request;
    return flatDrafts([n, null, space, nowMs, conversation, author, key, digest, durability], request.drafts);
  }
  if (command.kind !== "create") return [n, command];
  const { conversation, key, digest, drafts } = command.request;
  return flatDrafts([n, { ...command, request: { conversation, key, digest, drafts: [] } }], drafts);
}

export function readCommand(flat: FlatCommand): Posted {
  const n = flat[0] as number;
  const command = flat[1] as Command | null;
  if (command === null) return { n, command: readAppend(flat) };
  if (command.kind !== "create") return { n, command };
  return {
    n,
    command: { ...command, request: { ...command.request, drafts: readDrafts(flat, CREATE_MEMBERS) } },
  };
}

function readAppend(flat: FlatCommand): Append {
  const durability = flat[8] as Append["durability"];
  return {
    kind: "append",
    space: flat[2] as string,
    durability,
    nowMs: flat[3] as number,
    request: {
      conversation: flat[4] as string,
      author: flat[5] as Append["request"]["author"],
      key: flat[6] as string | null,
      digest: flat[7] as string,
      durability,
      drafts: readDrafts(flat, APPEND_MEMBERS),
    },
  };
}

function flatDrafts(flat: unknown[], drafts: readonly StampedDraft[]): FlatCommand {
  for (const { draft, id, time, summaryChange } of drafts) {
    const { type, node, payload, parentId } = draft;
    const originalId = draft.id !== undefined;
    flat.push(type, node, payload, plannedBody(draft), originalId, parentId, id, time, summaryChange);
  }
  return flat;
}

function readDrafts(flat: FlatCommand, from: number): readonly StampedDraft[] {
  const drafts: StampedDraft[] = [];
  for (let index = from; index < flat.length; index += DRAFT_MEMBERS) {
    const id = flat[index + 6] as string;
    const parentId = flat[index + 5] as string | null | undefined;
    const draft: { -readonly [K in keyof Draft]: Draft[K] } = {
      type: flat[index] as EntryType,
      node: flat[index + 1] as boolean,
      payload: flat[index + 2] as string,
      body: (flat[index + 3] ?? {}) as Draft["body"],
    };
    if (flat[index + 4] === true) draft.id = id;
    if (parentId !== undefined) draft.parentId = parentId;
    drafts.push({
      draft,
      id,
      time: flat[index + 7] as string,
      summaryChange: flat[index + 8] as SummaryChange | null,
    });
  }
  return drafts;
}

/** Of a body only what plans read: all of it is in the payload. */
function plannedBody({ type, body }: Draft): Draft["body"] | null {
  const names = plannedMembers(type);
  if (names.length === 0) return null;
  const planned: { [name: string]: unknown } = {};
  for (const name of names) if (body[name] !== undefined) planned[name] = body[name];
  return planned;
}

/** Whoever appended knows the ids: what a written batch is told is where it lies. */
export function flattenOutcome({ n, command }: Posted, outcome: Outcome): FlatOutcome {
  if (command.kind !== "append" || !outcome.ok) return [n, outcome];
  const { deduped, fromSeq, ownerLink } = outcome.value as AppendResult;
  return deduped ? [n, outcome] : [n, fromSeq, ownerLink];
}

export function readOutcome(command: Command, flat: FlatOutcome): Outcome {
  if (flat.length === 2) return flat[1];
  const drafts = command.kind === "append" ? command.request.drafts : [];
  const ids = drafts.map(({ id }) => id);
  return { ok: true, value: resultFrom(ids, flat[1], flat[2]) };
}
