/** What a step of the tour does when it is gone on from; the rest is looked at alone. */
export type TourAct = "begin" | "strike" | "edit";

export interface TourStep {
  readonly title: string;
  readonly words: string;
  /** Where it is: a page of the conversation of the tour (`""` is the talk itself), or the history. */
  readonly page: "history" | "" | "tree" | "any";
  /** What it speaks of: of the first of these that is there, the last is marked. */
  readonly marks: readonly string[];
  /** The first is. */
  readonly isFirstMarked?: true;
  /** Done by the button that leads on, which says so. */
  readonly act?: TourAct;
  readonly next: string;
}

const HISTORY: TourStep = {
  title: "History",
  words:
    "Each conversation has one row here, however many sessions of agents carry it. The strip in a row is its life: the ink line is the log, the bands above it are the sessions.",
  page: "history",
  marks: [".list-row.item .strip", ".state-body", ".head h1"],
  isFirstMarked: true,
  next: "Next",
};
const TREE: TourStep = {
  title: "Tree",
  words:
    "All ways that the conversation went, as lanes. Pick two entries, A and B, to compare them; go on from any of them.",
  page: "tree",
  marks: ['[role="tree"]', ".lanes", "main nav [aria-current]"],
  next: "Next",
};
const PALETTE: TourStep = {
  title: "Palette and keys",
  words:
    "Search, or Ctrl K, finds pages, conversations and commands, this tour among them. A question mark lists the keys of the page that is open. Everything can be done without a mouse.",
  page: "any",
  marks: [".jump", ".mobile-bar button"],
  isFirstMarked: true,
  next: "Done",
};

/** With the simulated agent things happen while one looks. */
const LIVE: readonly TourStep[] = [
  {
    title: "Conversation",
    words:
      "Here one talks with an agent. The simulated one needs no key and no network. The next button tells it a fact: “My name is Ada”.",
    page: "",
    marks: [".composer"],
    act: "begin",
    next: "Tell it a fact",
  },
  {
    title: "Trouble",
    words:
      "This menu strikes the agent with whatever goes wrong in the field: limits, crashes, lost transcripts, a kill of the server itself. The next button lets its session expire and then asks: “What is my name?”",
    page: "",
    marks: [".trouble > summary", ".composer"],
    act: "strike",
    next: "Strike it, then ask",
  },
  {
    title: "Survived",
    words:
      "It still knows. The ribbon says why the session was left and what the next one was told. The line at the left is the log: sessions change beside it, it does not break.",
    page: "",
    marks: [".ribbon.roll", ".thread"],
    next: "Next",
  },
  {
    title: "Fork and edit",
    words:
      "At every message, when the mouse is over it or it is selected with j and k: fork, edit and resubmit, replay from here, label. The original always stays. The next button edits the first prompt: “My name is Bea”.",
    page: "",
    marks: [".msg.user"],
    isFirstMarked: true,
    act: "edit",
    next: "Edit it",
  },
];

/** Without one, a conversation that has been through a lot is looked at. */
const LOOKED_AT: readonly TourStep[] = [
  {
    title: "Conversation",
    words:
      "A conversation that has been through a lot. Ribbons say why a session was left and what the next one was told; the line at the left is the log, which never breaks.",
    page: "",
    marks: [".ribbon.roll", ".thread"],
    next: "Next",
  },
  {
    title: "Fork and edit",
    words:
      "At every message, when the mouse is over it or it is selected with j and k: fork, edit and resubmit, replay from here, label. The original always stays.",
    page: "",
    marks: [".msg.user"],
    isFirstMarked: true,
    next: "Next",
  },
];

/** What can be shown: all of it with the simulated agent, less where nothing may be sent, or written. */
export function tourSteps(on: "simulated" | "sample" | "nothing"): readonly TourStep[] {
  if (on === "nothing") return [HISTORY, PALETTE];
  return [HISTORY, ...(on === "simulated" ? LIVE : LOOKED_AT), TREE, PALETTE];
}
