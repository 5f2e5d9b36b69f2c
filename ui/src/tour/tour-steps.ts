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
    "Each conversation has one row here, no matter how many agent sessions it uses. The strip in a row shows its life: the line is the log, the bands above it are the sessions.",
  page: "history",
  marks: [".list-row.item .strip", ".state-body", ".head h1"],
  isFirstMarked: true,
  next: "Next",
};
const TREE: TourStep = {
  title: "Tree",
  words:
    "Every branch of the conversation. Select two entries, A and B, to compare them, or continue from any entry.",
  page: "tree",
  marks: ['[role="tree"]', ".lanes", "main nav [aria-current]"],
  next: "Next",
};
const PALETTE: TourStep = {
  title: "Palette and keys",
  words:
    "Search (Ctrl K) finds pages, conversations and commands. Press ? to list the shortcuts of the current page. You can do everything without a mouse.",
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
      "Chat with an agent here. The simulated agent needs no API key and no network. The next button tells it a fact: “My name is Ada”.",
    page: "",
    marks: [".composer"],
    act: "begin",
    next: "Tell it a fact",
  },
  {
    title: "Simulate failure",
    words:
      "Break things on purpose: limits, crashes, lost transcripts, even killing the server. The next button expires the agent’s session and then asks: “What is my name?”",
    page: "",
    marks: [".trouble > summary", ".composer"],
    act: "strike",
    next: "Expire the session, then ask",
  },
  {
    title: "Survived",
    words:
      "The agent still knows. The line between the messages says why the session ended and what was sent to the next one. The line on the left is the log: sessions come and go, and the log continues.",
    page: "",
    marks: [".ribbon.roll", ".thread"],
    next: "Next",
  },
  {
    title: "Fork and edit",
    words:
      "Hover over any message, or select it with j and k, to fork it, edit it or replay from it. The original always stays. The next button edits the first prompt: “My name is Bea”.",
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
      "This conversation used several sessions. The lines between messages say why each session ended and what was sent to the next one. The line on the left is the log.",
    page: "",
    marks: [".ribbon.roll", ".thread"],
    next: "Next",
  },
  {
    title: "Fork and edit",
    words:
      "Hover over any message, or select it with j and k, to fork it, edit it or replay from it. The original always stays.",
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
