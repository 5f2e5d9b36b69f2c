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
  claude: ["This is a Claude Code session file.", AGENT_FILE],
  codex: ["This is a Codex session file.", AGENT_FILE],
  compressed: ["This file is compressed.", "Unpack it and drop the files inside."],
  sqlite: [
    "This is a SQLite database.",
    "Open it as a store with `holdfast ui` and export conversations there.",
  ],
  "jsonl-store": [
    "This is a log file of a JSONL store.",
    "Open its folder as a store with `holdfast ui` and export conversations there.",
  ],
  bodies: ["This file contains entries without a conversation.", "Export the whole conversation instead."],
  binary: ["This file is not text.", "Drop a bundle or a session log."],
  empty: ["This file is empty.", "Export it again."],
};

export function failureWords(error: unknown): ImportFailure {
  const plain = { problems: [], isSalvageable: false };
  if (!(error instanceof ApiError))
    return {
      ...plain,
      what: "The file could not be read, or the server did not respond.",
      next: "Nothing was imported. Drop it again.",
    };
  const { code, details, message } = error;
  const kind = typeof details["kind"] === "string" ? KINDS[details["kind"]] : undefined;
  if (kind !== undefined) return { ...plain, what: kind[0], next: kind[1] };
  if (code === "damaged" && Array.isArray(details["problems"]))
    return {
      what: "The file is damaged or incomplete. Nothing was imported.",
      next: "Export it again, or import the readable part.",
      problems: details["problems"] as readonly string[],
      isSalvageable: true,
    };
  if (code === "invalid_id")
    return { ...plain, what: "The file contains an invalid id.", next: sentence(message) };
  if (code === "too_large") return { ...plain, what: sentence(message), next: "Nothing was imported." };
  if (code === "no_right")
    return {
      ...plain,
      what: "You do not have permission to import.",
      next: "Importing requires admin access.",
    };
  if (code === "invalid_request")
    return {
      ...plain,
      what: "This is neither a bundle nor a session log.",
      next: "Drop an exported file. Nothing was imported.",
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
  if (how.asNew && !how.isDone) return { tone: "ok", name: "new", more: "with a new id" };
  switch (state) {
    case "new":
      return { tone: "ok", name: how.isDone ? "imported" : "new", more: "" };
    case "unfinished":
      return {
        tone: "ok",
        name: how.isDone ? "finished" : "unfinished",
        more: "an earlier import was interrupted",
      };
    case "blobs":
      return {
        tone: "ok",
        name: how.isDone ? "completed" : "images missing",
        more: "already here, without its images",
      };
    case "same":
      return { tone: "plain", name: "same", more: "already here; it stays unchanged" };
    case "conflict":
      return {
        tone: "unknown",
        name: "conflict",
        more: "another conversation has this id; it stays unchanged",
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
    ...(leftOut === 0 ? [] : [`${countText(leftOut, "line")}  cannot be imported.`]),
    ...(missing.length === 0
      ? []
      : [`${countText(missing.length, "image")}  referenced by entries but missing from the file.`]),
    ...(missingSeeds.length === 0
      ? []
      : [`${countText(missingSeeds.length, "run input")} missing from the file.`]),
    ...(linked || conversations.length === 0
      ? []
      : ["The file has no hashes, so its content cannot be verified."]),
  ];
}
