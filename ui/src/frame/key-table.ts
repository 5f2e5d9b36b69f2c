/** Where a key counts; what is everywhere counts on the other pages too. */
type KeyPlace =
  | "everywhere"
  | "history"
  | "conversation"
  | "tab"
  | "tree"
  | "log"
  | "context"
  | "diff"
  | "runs"
  | "memory"
  | "tour";

export interface KeyRow {
  /** A key, `mod` with a key (Ctrl, on a Mac Cmd), or two one after the other (`g l`). Alt is left to the browser. */
  readonly keys: string;
  readonly does: string;
  readonly where: KeyPlace;
  /** It counts where nothing else on the page has the key. */
  readonly isLast?: true;
}

/** Every key of the UI, by what it does: they are bound by it, and the help is made from it. */
export const KEY_TABLE = {
  palette: { keys: "mod+k", does: "Search or jump", where: "everywhere" },
  help: { keys: "?", does: "Keyboard shortcuts", where: "everywhere" },
  toHistory: { keys: "g h", does: "Go to history", where: "everywhere" },

  filter: { keys: "/", does: "Filter, or search all text", where: "history" },
  nextConversation: { keys: "j", does: "Next conversation", where: "history" },
  previousConversation: { keys: "k", does: "Previous conversation", where: "history" },
  newConversation: { keys: "n", does: "New conversation", where: "history" },

  find: { keys: "/", does: "Find in this conversation", where: "conversation" },
  findInside: { keys: "mod+f", does: "Find in this conversation", where: "conversation" },
  nextMessage: { keys: "j", does: "Next message", where: "conversation" },
  previousMessage: { keys: "k", does: "Previous message", where: "conversation" },
  nextPrompt: { keys: "J", does: "Next prompt", where: "conversation" },
  previousPrompt: { keys: "K", does: "Previous prompt", where: "conversation" },
  newerConversation: { keys: "[", does: "Previous conversation in the history", where: "conversation" },
  olderConversation: { keys: "]", does: "Next conversation in the history", where: "conversation" },
  previousBranch: { keys: "(", does: "Previous branch here", where: "conversation" },
  nextBranch: { keys: ")", does: "Next branch here", where: "conversation" },
  parent: { keys: "h", does: "Previous entry", where: "conversation" },
  child: { keys: "l", does: "Next entry", where: "conversation" },
  tree: { keys: "t", does: "Show in the tree", where: "conversation" },
  compareBranches: { keys: "d", does: "Compare with the next branch here", where: "conversation" },
  fork: { keys: "f", does: "Fork at the selected message", where: "conversation" },
  edit: { keys: "e", does: "Edit and resubmit the selected prompt", where: "conversation" },
  export: { keys: "x", does: "Export this conversation", where: "conversation" },
  toggleTools: { keys: "o", does: "Open or close all tool cards", where: "conversation" },
  nextView: { keys: "v", does: "Normal, Focused or Raw", where: "conversation" },
  follow: { keys: "g l", does: "Go to the end and follow", where: "conversation" },
  copyAddress: { keys: "y", does: "Copy its ID", where: "conversation" },
  label: { keys: "s", does: "Label the selected message", where: "conversation" },
  write: { keys: "c", does: "Write a message", where: "conversation" },
  back: { keys: "Escape", does: "Deselect the message, then leave the branch", where: "conversation" },

  outOfTab: { keys: "Escape", does: "Back to the conversation", where: "tab", isLast: true },

  toConversation: { keys: "t", does: "Back to the conversation", where: "tree" },
  comparePicked: { keys: "d", does: "Compare the two selected entries", where: "tree" },
  toggleFolds: { keys: "o", does: "Open or close all folds", where: "tree" },

  nextRecord: { keys: "j", does: "Open the next record", where: "log" },
  previousRecord: { keys: "k", does: "Open the previous record", where: "log" },
  closeRecord: { keys: "Escape", does: "Close the record", where: "log" },
  firstRecord: { keys: "g g", does: "Go to the first record", where: "log" },
  lastRecord: { keys: "g l", does: "Go to the last record", where: "log" },

  nextItem: { keys: "j", does: "Next item", where: "context" },
  previousItem: { keys: "k", does: "Previous item", where: "context" },
  earlierContext: { keys: "h", does: "Context one message earlier", where: "context" },
  laterContext: { keys: "l", does: "Context one message later", where: "context" },

  nextDifference: { keys: "n", does: "Next difference", where: "diff" },
  previousDifference: { keys: "p", does: "Previous difference", where: "diff" },
  outOfDiff: { keys: "Escape", does: "Go to history", where: "diff" },

  nextRun: { keys: "j", does: "Open the next run", where: "runs" },
  previousRun: { keys: "k", does: "Open the previous run", where: "runs" },
  closeRun: { keys: "Escape", does: "Close the run", where: "runs" },

  searchMemory: { keys: "/", does: "Search memory", where: "memory" },
  remember: { keys: "n", does: "Add to memory", where: "memory" },

  endTour: { keys: "Escape", does: "End the tour", where: "tour" },
} as const;

export type KeyAct = keyof typeof KEY_TABLE;

/** Whether it is typed by letters alone, which a person can switch off. */
export function isSingle(keys: string): boolean {
  return keys.split(" ").every((key) => key.length === 1);
}

const IS_MAC = /^(?:Mac|iP)/.test(globalThis.navigator?.platform ?? "");

/** Whether the key that a browser's own shortcuts have is pressed. On a Mac, Ctrl edits text. */
export function isModPressed(
  { ctrlKey, metaKey }: { readonly ctrlKey: boolean; readonly metaKey: boolean },
  isMac: boolean = IS_MAC,
): boolean {
  return isMac ? metaKey : ctrlKey || metaKey;
}

/** A key as it is printed on a keyboard. */
export function keyWords(keys: string, isMac: boolean = IS_MAC): string {
  return keys
    .replace(/^mod\+(.)$/, (_, key: string) => `${isMac ? "⌘" : "Ctrl "}${key.toUpperCase()}`)
    .replace("Escape", "Esc");
}
