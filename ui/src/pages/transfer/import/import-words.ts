import { type Api, ApiError } from "#edges/http/client/index";
import { countText } from "../../../parts/numbers.ts";

export type ImportAnswer = Api["importFile"]["response"];
export type ImportedOne = ImportAnswer["conversations"][number];

/** What is wrong with a file, in words for whoever dropped it. */
export interface ImportFailure {
  readonly what: string;
  readonly next: string;
  /** Line by line, where the file says so much. */
  readonly problems: readonly string[];
  /** What can be reached of it may be imported. */
  readonly isSalvageable: boolean;
}

const AGENT_FILE =
  "It is not imported as a file. Sessions that an agent has on this machine are at the end of the history, with Import beside each.";

/** By what the server says that a file is: what it is, and what to do with it. */
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  claude: ["This is a transcript of Claude Code.", AGENT_FILE],
  codex: ["This is a rollout of Codex.", AGENT_FILE],
  compressed: ["This file is packed.", "Unpack it and drop what was in it: nothing is unpacked here."],
  sqlite: ["This is a SQLite database.", "Serve it as a store of its own, and export conversations there."],
  "jsonl-store": [
    "This is a log file of a JSONL store.",
    "Serve its folder as a store, and export conversations there.",
  ],
  bodies: [
    "These are bare entries, without a conversation around them.",
    "Export the conversation they are from.",
  ],
  binary: ["This file is no text.", "Drop a bundle that an export made, or a session log."],
  empty: ["This file is empty.", "Ask for it once more where it was made."],
};

export function failureWords(error: unknown): ImportFailure {
  const plain = { problems: [], isSalvageable: false };
  if (!(error instanceof ApiError))
    return {
      ...plain,
      what: "The file could not be read, or the server did not answer.",
      next: "Nothing was imported. Drop it again.",
    };
  const { code, details, message } = error;
  const kind = typeof details["kind"] === "string" ? KINDS[details["kind"]] : undefined;
  if (kind !== undefined) return { ...plain, what: kind[0], next: kind[1] };
  if (code === "damaged" && Array.isArray(details["problems"]))
    return {
      what: "It is damaged: not all of it is there, or not as it was written. Nothing was imported.",
      next: "Ask for it once more where it was made, or import what can be reached of it.",
      problems: details["problems"] as readonly string[],
      isSalvageable: true,
    };
  if (code === "invalid_id")
    return { ...plain, what: "It calls something by what can be no id.", next: sentence(message) };
  if (code === "too_large") return { ...plain, what: sentence(message), next: "Nothing was imported." };
  if (code === "no_right")
    return { ...plain, what: "This browser may not import here.", next: "That takes the right admin." };
  if (code === "invalid_request")
    return {
      ...plain,
      what: "This is neither a bundle nor a session log.",
      next: "Drop a file that an export made. Nothing was imported.",
    };
  return { ...plain, what: sentence(message), next: error.safe };
}

function sentence(words: string): string {
  const [first = ""] = words.split("\n");
  const begun = first.charAt(0).toUpperCase() + first.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

const FORMATS: Readonly<Record<string, string>> = {
  "holdfast-jsonl": "Bundle",
  "session-log": "Session log",
};

/** The shape of a file, and the version it is written in. */
export function formatWords({ format, conversations }: ImportAnswer): string {
  const name = FORMATS[format] ?? format;
  const version = conversations.find(({ version: of }) => of !== null)?.version ?? null;
  return version === null ? name : `${name}, version ${version}`;
}

type Tone = "ok" | "plain" | "unknown";

/** What would become of a conversation, or became of it. */
export function stateWords(
  { state }: ImportedOne,
  how: { readonly asNew: boolean; readonly isDone: boolean },
): {
  readonly tone: Tone;
  readonly name: string;
  readonly more: string;
} {
  if (how.asNew && !how.isDone) return { tone: "ok", name: "new", more: "under a fresh id" };
  switch (state) {
    case "new":
      return { tone: "ok", name: how.isDone ? "imported" : "new", more: "" };
    case "unfinished":
      return {
        tone: "ok",
        name: how.isDone ? "finished" : "unfinished",
        more: "an earlier import was cut off",
      };
    case "blobs":
      return {
        tone: "ok",
        name: how.isDone ? "completed" : "images missing",
        more: "it is here, without its images",
      };
    case "same":
      return { tone: "plain", name: "same", more: "it is here already, and stays as it is" };
    case "conflict":
      return {
        tone: "unknown",
        name: "conflict",
        more: "another conversation has this id, and stays as it is",
      };
  }
}

/** What importing a file as it stands would do. */
export function planOf({ conversations }: ImportAnswer): "import" | "nothing" | "refused" {
  if (conversations.some(({ state }) => state === "conflict")) return "refused";
  return conversations.every(({ state }) => state === "same") ? "nothing" : "import";
}

/** What comes along that a person should know of. */
export function remarksOf(answer: ImportAnswer): readonly string[] {
  const { missing, missingSeeds, linked, leftOut, conversations } = answer;
  return [
    ...(leftOut === 0 ? [] : [`${countText(leftOut, "line")} cannot come along.`]),
    ...(missing.length === 0
      ? []
      : [`${countText(missing.length, "image")} that entries name is not in the file.`]),
    ...(missingSeeds.length === 0
      ? []
      : [`${countText(missingSeeds.length, "seed")} that runs name is not in the file.`]),
    ...(linked || conversations.length === 0
      ? []
      : ["Nothing in the file proves what it holds: it has no links."]),
  ];
}
