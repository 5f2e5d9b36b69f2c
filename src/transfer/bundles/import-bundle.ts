import type { Holdfast } from "#conversation/holdfast";
import { idForKey } from "#conversation/id-for-key";
import { LogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import { type ImportReport, checkImport, type ImportProblem } from "./import-check.ts";
import { type ImportState, importTargets, type ImportTarget } from "./import-targets.ts";
import { writeImport } from "./import-write.ts";
import type { ImportFile } from "./open-import.ts";

const PROBLEMS_SHOWN = 20;

export interface ImportOptions {
  /** Imports the one conversation of the file under this id. */
  readonly id?: string;
  /** Imports every conversation under a fresh id; forks and parents name each other by those. */
  readonly asNew?: boolean;
  /** With `asNew`: the ids follow from it, so that the same import made twice is one. */
  readonly key?: string;
  /** Only says what would be done. */
  readonly dryRun?: boolean;
  /**
   * `tell`: what is all there already has the state `same`, and a dry run names ids that others have. `refuse`: both are an
   * error. The default of `importBundle` is `tell`.
   */
  readonly whenThere?: "refuse" | "tell";
  /** Imports what can be reached of a file that is not whole, and reports the rest. */
  readonly salvage?: boolean;
  /** So many lines of the file were checked. */
  readonly onLine?: (line: number) => void;
  /** So many entries of all are in the store. */
  readonly onEntry?: (done: number, total: number) => void;
}

/** What became of one conversation of a file. */
export interface ImportedConversation {
  readonly conversation: ConversationId;
  /** What it is called in the file. */
  readonly from: string;
  /** As its own entries in the file say; null where none does. */
  readonly title: string | null;
  /** The version of the format that the file has it in; null where it says none. */
  readonly version: number | null;
  /** The conversation of the same file that it is a fork of, as it is called here. */
  readonly source: ConversationId | null;
  /**
   * `new`: it was not there. `unfinished`: a run that was cut off was gone on with. `blobs`: only those were missing. `same`: it was
   * there. `conflict`: another one has its id.
   */
  readonly state: ImportState;
  readonly entries: number;
  readonly blobs: number;
  /** The digests of images that entries name and the file does not have. */
  readonly missing: readonly string[];
  /** The seeds that its runs name and the file does not have: those runs cannot be given back as they were. */
  readonly missingSeeds: readonly string[];
  /** Whether the file has links, and whether they are the conversation's now. */
  readonly linked: boolean;
  readonly links: "kept" | "new";
  /** Up to this entry nothing proved it where the file was written. */
  readonly unprovenSeq: number;
}

export interface ImportedBundle {
  /** The shape of the file. */
  readonly format: string;
  readonly conversations: readonly ImportedConversation[];
  /** Problems of a salvaged file. */
  readonly problems: readonly ImportProblem[];
  /** How many lines were left out. */
  readonly leftOut: number;
}

/**
 * Imports what `exportBundle` or `holdfast export` wrote. The file is read twice: all of it is checked, its links and digests
 * too, before anything is written. What is there already is recognised; another conversation of the same id is refused. An
 * import that was cut off goes on when it is run again.
 */
export function importBundle(
  holdfast: Holdfast,
  file: ImportFile,
  options: ImportOptions = {},
): Promise<ImportedBundle> {
  return importInto(async () => holdfast, file, { whenThere: "tell", ...options });
}

/** The same into a store that is opened when the file is known to be sound. */
export async function importInto(
  open: () => Promise<Holdfast>,
  file: ImportFile,
  options: ImportOptions,
): Promise<ImportedBundle> {
  if (options.asNew === true && options.id !== undefined)
    throw new LogError("invalid_request", "Pass an id or ask for new ids, not both");
  const checked = await checkImport(file, options.onLine ?? (() => undefined));
  if (checked.problems.length > 0 && options.salvage !== true) throw refusal(file.name, checked);
  const total = checked.logs.reduce((count, { entries }) => count + entries, 0);
  if (total === 0)
    throw new LogError("damaged", `${file.name} contains no readable conversation`, { file: file.name });
  // Chosen before the store is opened: what cannot be an id makes none.
  const chosen = checked.logs.map((log) => chooseId(log.header.conversation, checked, options));
  const holdfast = await open();
  const { key, dryRun = false, whenThere = "refuse" } = options;
  const ids = chosen.map((id, index) => {
    const from = checked.logs[index]?.header.conversation ?? "";
    return id ?? parseConversationId(key === undefined ? holdfast.newId() : idForKey("import", key, from));
  });
  const tells = whenThere === "tell";
  const targets = await importTargets(holdfast, checked, ids, { same: tells, conflict: tells && dryRun });
  if (!dryRun && targets.some(({ state }) => state !== "same"))
    await writeImport(holdfast, file, {
      checked,
      targets,
      onEntry: (done) => options.onEntry?.(done, total),
    });
  return resultOf(checked, targets);
}

function chooseId(inFile: string, { logs }: ImportReport, options: ImportOptions): ConversationId | null {
  if (options.asNew === true) return null;
  if (options.id === undefined) return parseConversationId(inFile);
  if (logs.length === 1) return parseConversationId(options.id);
  throw new LogError(
    "invalid_request",
    `The file has ${logs.length} conversations, but only one id was passed`,
    { conversations: logs.length },
  );
}

function resultOf(
  { format, problems, unusable }: ImportReport,
  targets: readonly ImportTarget[],
): ImportedBundle {
  const ids = new Map(targets.map(({ id, log }) => [log.header.conversation, id]));
  const conversations = targets.map(({ id, log, state, keepsLinks }): ImportedConversation => {
    const { header, title, entries, blobs, missing, missingSeeds, links, source } = log;
    return {
      conversation: id,
      from: header.conversation,
      title,
      version: header.v ?? null,
      source: source === null ? null : (ids.get(source) ?? null),
      state,
      entries,
      blobs: blobs.size,
      missing,
      missingSeeds,
      linked: links.linked,
      links: keepsLinks ? "kept" : "new",
      unprovenSeq: links.unprovenSeq,
    };
  });
  return { format, conversations, problems, leftOut: unusable.size };
}

function refusal(name: string, { problems, unusable, logs }: ImportReport): LogError {
  const lines = problems.slice(0, PROBLEMS_SHOWN).map(problemText);
  const [first] = problems;
  const more = problems.length > lines.length ? [`and ${problems.length - lines.length} more`] : [];
  const [links] = logs.length === 1 ? logs.map((log) => log.links) : [];
  const { linked = false, soundSeq = 0 } = links ?? {};
  const sound = linked
    ? `\nVerified by hashes: ${soundSeq === 0 ? "no entries" : `entries 1 to ${soundSeq}`}.`
    : "";
  const message = `${name} cannot be imported completely:\n${[...lines, ...more].map((line) => `  ${line}`).join("\n")}${sound}`;
  return new LogError("damaged", message, {
    file: name,
    line: first?.line ?? 0,
    byte: first?.byte ?? 0,
    unusable: unusable.size,
    problems: lines,
    ...(linked ? { soundSeq } : {}),
  });
}

/** Formats a problem with its place. */
export function problemText({ line, byte, message }: ImportProblem): string {
  return line === 0 ? message : `line ${line}, byte ${byte}: ${message}`;
}

/** The result of an import as one JSON object: totals, named by the first conversation. */
export interface ImportView {
  readonly conversation: string | undefined;
  readonly entries: number;
  readonly format: string;
  readonly problems: ImportedBundle["problems"];
  readonly blobs: number;
  readonly missing: readonly string[];
  readonly missingSeeds: readonly string[];
  readonly linked: boolean;
  readonly links: "kept" | "new";
  readonly unprovenSeq: number | undefined;
}

export function importJson({ format, conversations, problems }: ImportedBundle): ImportView {
  const [first] = conversations;
  return {
    conversation: first?.conversation,
    entries: sum(conversations, "entries"),
    format,
    problems,
    blobs: sum(conversations, "blobs"),
    missing: conversations.flatMap(({ missing }) => missing),
    missingSeeds: conversations.flatMap(({ missingSeeds }) => missingSeeds),
    linked: conversations.every(({ linked }) => linked),
    links: conversations.every(({ links }) => links === "kept") ? "kept" : "new",
    unprovenSeq: first?.unprovenSeq,
  };
}

function sum(conversations: readonly ImportedConversation[], count: "entries" | "blobs"): number {
  return conversations.reduce((total, conversation) => total + conversation[count], 0);
}
