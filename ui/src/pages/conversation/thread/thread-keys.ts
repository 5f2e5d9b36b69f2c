import { onKey, useKeys } from "../../../frame/keys.ts";
import { say } from "../../../frame/said.tsx";
import { copyText } from "../../../parts/copy-button.tsx";
import { addressOf, conversationAddress } from "../../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../../router/location.ts";
import type { ThreadRow } from "#edges/http/client/views";
import { hasPage } from "../../has-page.ts";
import { attempted, forkAt } from "../entry/acts.ts";
import type { Doing } from "../entry/entry-row.tsx";
import { toggleAllCards } from "../entry/open-cards.ts";
import { goToSibling } from "../entry/sibling-switch.tsx";
import { isFinding } from "../find/find-inside.tsx";
import { neighbourOf } from "../find/neighbours.ts";
import { nextView } from "../view-modes.tsx";
import { follows, scrollToEnd } from "./following.ts";
import { lengthOf, type ThreadState } from "./thread-state.ts";

export interface ThreadActs {
  readonly conversation: string;
  readonly state: ThreadState;
  readonly selected: ThreadRow | null;
  readonly setDoing: (doing: Doing) => void;
}

/** Who is gone to by a step: the next message, the next of a person's, or whatever stands there. */
type Wanted = "message" | "prompt" | "any";

/** The next place in a direction that is wanted; null: there is none, or it is not known yet. */
function nextPlace(state: ThreadState, from: number, step: 1 | -1, wanted: Wanted): string | null {
  const length = lengthOf(state);
  for (let at = from + step; at >= 0 && at < length; at += step) {
    const entry = state.rows.get(at)?.entry;
    if (entry === undefined) return null;
    const role = entry.type === "message" ? entry.message.role : null;
    if (wanted === "any" || (wanted === "prompt" ? role === "user" : role !== null)) return entry.id;
  }
  return null;
}

export function toEnd(): void {
  changeQuery({ at: null });
  follows.value = true;
  scrollToEnd();
}

async function toNeighbour(conversation: string, step: 1 | -1): Promise<void> {
  const next = await attempted(() => neighbourOf(conversation, step));
  if (next === null) say(step === 1 ? "No next conversation" : "No previous conversation");
  else navigate(conversationAddress(next));
}

/** Both ways that part at the selected message, side by side. */
function compare({ conversation, state, selected }: ThreadActs): void {
  const ways = selected?.siblings ?? [];
  const own = ways.findIndex(({ entry }) => entry === selected?.entry.id);
  const other = ways[(own + 1) % ways.length];
  if (ways.length < 2 || other === undefined)
    return say("Select a message where branches split, or select two entries in the tree.");
  const [a, b] = [other.end, state.page?.leaf ?? ""];
  navigate(addressOf("/diff", { a: `${conversation}@${a}`, b: `${conversation}@${b}` }));
}

function back(): void {
  if (query.value.get("at") !== null) changeQuery({ at: null });
  else if (query.value.get("leaf") !== null) changeQuery({ leaf: null });
}

/** An act on the selected message; without one it says so. */
function withSelected(selected: ThreadRow | null, run: (row: ThreadRow) => void): () => void {
  return () => (selected === null ? say("Select a message first: j and k move") : run(selected));
}

export function useThreadKeys(acts: ThreadActs): void {
  const { conversation, state, selected, setDoing } = acts;
  const from = selected?.place ?? lengthOf(state);
  const go = (step: 1 | -1, wanted: Wanted): void => {
    const next = nextPlace(state, from, step, wanted);
    if (next !== null) changeQuery({ at: next });
  };
  const sibling = (step: number): (() => void) =>
    withSelected(selected, ({ siblings, entry }) => goToSibling(siblings, entry.id, step));
  const address = `${conversation}${selected === null ? "" : `@${selected.entry.id}`}`;
  const isPrompt = selected?.entry.type === "message" && selected.entry.message.role === "user";
  useKeys([
    onKey("find", () => (isFinding.value = true)),
    onKey("findInside", () => (isFinding.value = true)),
    onKey("nextMessage", () => go(1, "message")),
    onKey("previousMessage", () => go(-1, "message")),
    onKey("nextPrompt", () => go(1, "prompt")),
    onKey("previousPrompt", () => go(-1, "prompt")),
    onKey("newerConversation", () => void toNeighbour(conversation, -1)),
    onKey("olderConversation", () => void toNeighbour(conversation, 1)),
    onKey("previousBranch", sibling(-1)),
    onKey("nextBranch", sibling(1)),
    onKey("parent", () => go(-1, "any")),
    onKey("child", () => go(1, "any")),
    onKey("tree", () => navigate(conversationAddress(conversation, "tree", { at: selected?.entry.id }))),
    onKey("compareBranches", () => compare(acts)),
    onKey(
      "fork",
      withSelected(selected, (row) => void forkAt(conversation, row)),
    ),
    onKey("edit", () => (isPrompt ? setDoing("edit") : say("Select a prompt first: J and K move"))),
    ...(hasPage("/export") ? [onKey("export", () => navigate(addressOf("/export", { conversation })))] : []),
    onKey("toggleTools", toggleAllCards),
    onKey("nextView", nextView),
    onKey("follow", toEnd),
    onKey("copyAddress", () => void copyText(address)),
    onKey(
      "label",
      withSelected(selected, () => setDoing("label")),
    ),
    onKey("back", back),
  ]);
}
