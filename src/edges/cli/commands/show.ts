import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { findAddress, shortIds } from "#edges/cli/address";
import type { Command, Sink } from "#edges/cli/command";
import { fit, safeLine, safeText, wrap } from "#edges/cli/terminal/terminal";
import { clockOf } from "#edges/cli/terminal/time";
import { entryLine } from "#log/codec";
import type { Entry, EntryOf } from "#log/entry";
import { type ContentBlock, isInternal } from "#log/message";
import { turnsOf } from "#log/projections/turns";
import { resultsByCall } from "#log/results-by-call";
import { endingClause, reasonText } from "#operations/text";
import { SCHEMA_VERSION } from "#transfer/context-text";
import { blockPreview, jsonPreview } from "#transfer/views/entry-preview";

const RESULT_LINES = 6; // a glance; `log` and `context` have all of it

export const show: Command = {
  name: "show",
  summary: "Print a conversation",
  forms: ["ID[@ENTRY]"],
  about: `Prints the active branch, or the one that ends at ENTRY: prompts, replies, tool calls with short
results, and compactions as a line. Hidden messages, interrupted turns and changes of the agent
session are marked. \`holdfast log ID\` prints everything.`,
  examples: ["holdfast show ID", "holdfast show ID@before-refactoring", "holdfast show ID --json"],
  options: { "--focused": "prompts and final answers only" },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const { conversation, entry } = await findAddress(holdfast, call.args[0] ?? "");
    const branch = await conversation.branch(entry === null ? {} : { at: entry });
    const readable = branch.filter((one) => one.type !== "message" || !isInternal(one));
    const wordsOnly = call.flags.has("focused");
    const entries = wordsOnly ? focusedBranch(readable) : readable;
    const { out } = call.io;
    if (call.json) return out.write(await historyText(conversation, entries));
    const { title, cwd, origin } = await conversation.head();
    await out.write(
      `${out.style.bold(safeLine(title ?? "(no title)"))}\n${out.style.dim([conversation.id, cwd ?? ""].filter(Boolean).map(safeLine).join(" · "))}\n`,
    );
    const short = shortIds(branch.map(({ id }) => id));
    const results = resultsByCall(branch);
    const facts = await conversation.facts(["turn_start", "turn_end", "upstream_link"]);
    const notes = turnNotes(facts);
    const sessions = new SessionNotes(facts);
    // What a fork inherited is numbered by its source, and was carried by the source's sessions.
    const inherited = origin === null ? -1 : branch.findIndex(({ id }) => id === origin.entry);
    const ownEntries = new Set(branch.slice(inherited + 1));
    let lastSeq = 0;
    const writeNote = async (text: string | null | undefined): Promise<void> => {
      if (text != null) await out.write(`  ${out.style.yellow(`— ${safeLine(text)}`)}\n`);
    };
    for (const one of entries) {
      if (results.paired.has(one)) {
        await writeNote(notes.after.get(one.id));
        continue;
      }
      const isOwn = ownEntries.has(one);
      const agent = isOwn ? sessions.agentAt(one.seq) : null;
      const lines = linesOf(one, { sink: out, results: results.of, agent, wordsOnly });
      if (lines.length === 0) continue;
      if (isOwn) {
        await writeNote(sessions.between(lastSeq, one.seq));
        lastSeq = one.seq;
      }
      const hidden = one.hidden ? out.style.yellow(" (hidden from the model)") : "";
      const place = out.style.dim(`  ${clockOf(one.time)}  @${safeLine(short.get(one.id) ?? one.id)}`);
      await out.write(
        `\n${lines[0]}${place}${hidden}\n${lines
          .slice(1)
          .map((line) => `${line.trimEnd()}\n`)
          .join("")}`,
      );
      await writeNote(notes.after.get(one.id));
    }
    await writeNote(entry === null ? notes.open : null);
  },
};

async function historyText(conversation: Conversation, entries: readonly BranchEntry[]): Promise<string> {
  const { title, leaf } = await conversation.head();
  // Beside the entries, not in them: a payload may have a member of any name.
  const hidden = entries.filter((entry) => entry.hidden).map(({ id }) => id);
  const start = JSON.stringify({
    schemaVersion: SCHEMA_VERSION,
    conversation: conversation.id,
    title,
    leaf: leaf.id,
    hidden,
  });
  return `${start.slice(0, -1)},"entries":[${entries.map(entryLine).join(",")}]}\n`;
}

interface View {
  readonly sink: Sink;
  readonly results: ReturnType<typeof resultsByCall<BranchEntry>>["of"];
  /** Who carried the entry, where that is known. */
  readonly agent: string | null;
  /** Without tools and thinking. */
  readonly wordsOnly: boolean;
}

/** A heading and what stands under it; nothing for entries that people do not read. */
function linesOf(entry: BranchEntry, view: View): readonly string[] {
  const { style, columns } = view.sink;
  const body = (text: string): readonly string[] =>
    wrap(safeText(text), Math.max(20, columns - 2)).map((line) => `  ${line}`);
  switch (entry.type) {
    case "message":
      return messageLines(entry, view);
    case "compaction":
      return [
        style.yellow("⧉ compaction: the model reads this summary; the log keeps everything"),
        ...body(entry.summary),
      ];
    case "branch_summary":
      return [
        style.yellow(`⑂ summary of a branch that was left at ${safeLine(entry.fromId)}`),
        ...body(entry.summary),
      ];
    case "model_change":
      return [style.yellow(`⇄ model ${safeLine(entry.model)}`)];
    case "reset":
      return [
        style.yellow(
          `— reset${entry.reason === undefined ? "" : `: ${safeLine(reasonText(entry.reason))}`}; nothing above reaches the model`,
        ),
      ];
    case "custom":
      return entry.inContext === true
        ? [
            style.bold(safeLine(entry.customType)),
            ...body((entry.content ?? []).map(blockPreview).join("\n") || jsonPreview(entry.data)),
          ]
        : [];
    default:
      return [];
  }
}

function messageLines(entry: EntryOf<"message">, view: View): readonly string[] {
  const { style, columns } = view.sink;
  const { message } = entry;
  const width = Math.max(20, columns - 2);
  if (message.role === "toolResult")
    return [
      style.bold(`result ${safeLine(message.toolName ?? message.toolCallId)}`),
      ...message.content.flatMap((block) =>
        wrap(safeText(blockPreview(block)), width).map((line) => `  ${line}`),
      ),
    ];
  const by = message.role === "assistant" ? speakerOf(message.model, view.agent) : null;
  const model = by === null ? "" : style.dim(` (${safeLine(by)})`);
  const name =
    message.role === "user" ? style.cyan(style.bold("user")) : style.green(style.bold("assistant"));
  const content = view.wordsOnly ? message.content.filter(({ type }) => type === "text") : message.content;
  return [`${name}${model}`, ...content.flatMap((block) => blockLines(block, view))];
}

/** The model, or the agent where the model's name says nothing. */
function speakerOf(model: string | undefined, agent: string | null): string | null {
  return model === undefined || model === "default" ? (agent ?? model ?? null) : model;
}

function blockLines(block: ContentBlock, view: View): readonly string[] {
  const { style, columns } = view.sink;
  const width = Math.max(20, columns - 2);
  if (block.type === "thinking" || block.type === "redactedThinking")
    return [style.dim(`  ${fit(safeLine(blockPreview(block)), width)}`)];
  if (block.type !== "toolCall") return wrap(safeText(blockPreview(block)), width).map((line) => `  ${line}`);
  const call = `  ${fit(safeLine(blockPreview(block)), width)}`;
  const result = view.results.get(block);
  if (result === undefined || result.message.role !== "toolResult")
    return [call, style.yellow("    outcome unknown: no result was recorded")];
  const failed = result.message.isError === true;
  const text = result.message.content.map(blockPreview).join("\n").trimEnd();
  const lines = wrap(safeText(text), Math.max(20, width - 6));
  const suffix =
    lines.length > RESULT_LINES ? [style.dim(`      … ${lines.length - RESULT_LINES} more lines`)] : [];
  const hidden = result.hidden ? style.yellow(" (hidden from the model)") : "";
  return [
    call,
    `    ${failed ? style.red("✗") : style.green("✓")} ${lines[0] ?? ""}${hidden}`,
    ...lines.slice(1, RESULT_LINES).map((line) => `      ${line}`),
    ...suffix,
  ];
}

/** What people asked and what they were answered in the end: none of the answers in between. */
function focusedBranch(entries: readonly BranchEntry[]): readonly BranchEntry[] {
  const focused: BranchEntry[] = [];
  let answer: BranchEntry | null = null;
  const flush = (): void => {
    if (answer !== null) focused.push(answer);
    answer = null;
  };
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") {
      flush();
      focused.push(entry);
    } else if (message.role === "assistant" && message.content.some(({ type }) => type === "text"))
      answer = entry;
  }
  flush();
  return focused;
}

/** Which sessions carried a conversation, as a reader comes across them. */
class SessionNotes {
  readonly #links: readonly EntryOf<"upstream_link">[];

  constructor(facts: readonly Entry[]) {
    this.#links = facts.filter((fact) => fact.type === "upstream_link");
  }

  /** Who carried an entry: the agent of the latest link before it; null when none had been made. */
  agentAt(seq: number): string | null {
    return this.#links.findLast((link) => link.seq < seq)?.agent ?? null;
  }

  /** What there is to say between two entries: that another session took the place of the one before. */
  between(after: number, upTo: number): string | null {
    const link = this.#links.findLast(({ seq }) => seq > after && seq < upTo);
    if (link === undefined || link === this.#links[0]) return null;
    return `another session of ${link.agent}: ${reasonText(link.reason)}`;
  }
}

interface TurnNotes {
  /** By the last node of a turn that did not end well: what became of it. */
  readonly after: ReadonlyMap<string, string>;
  /** A turn that has not ended. */
  readonly open: string | null;
}

/** What a reader of the messages alone would not see: why there is no answer, or why it stops. */
function turnNotes(facts: readonly Entry[]): TurnNotes {
  const after = new Map<string, string>();
  for (const fact of facts) {
    if (fact.type !== "turn_end" || fact.node === undefined) continue;
    const clause = endingClause(fact);
    if (clause !== null) after.set(fact.node, clause);
  }
  const running = turnsOf(facts).some((turn) => turn.outcome === null);
  return { after, open: running ? "running, or cut off before it could end" : null };
}
