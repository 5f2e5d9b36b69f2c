import { resolve } from "node:path";
import type { Holdfast } from "#conversation/holdfast";
import type { ListFilter } from "#conversation/list-conversations";
import { listConversations } from "#operations/conversations";
import { LIST_STATUSES, type ListedRow } from "#operations/views/listed-rows";
import { pagesOf } from "#edges/cli/operation-command";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { pastTime, ageOf } from "#edges/cli/terminal/time";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import type { ConversationRow } from "#store/requests";
import { fit, pad, safeLine, type Style } from "#edges/cli/terminal/terminal";
import { STATES } from "#operations/text";
import { SHORT_ID_CHARS, shortId } from "#transfer/views/safe-text";

const PAGE = 100;

export const list: Command = {
  name: "list",
  summary: "List conversations, latest first",
  forms: ["[PREFIX]"],
  about: `PREFIX selects ids that start with it. At a terminal each line has the end of the id, which works
as an id, last change, entries, state, agent or model, folder and title. The state is empty for an
idle conversation. In a pipe each line has the whole id, last change, entries and title.`,
  examples: [
    "holdfast list",
    "holdfast list -n 5",
    "holdfast list --repo . --since 14d",
    "holdfast list --status interrupted",
    "holdfast list --agents",
    "holdfast list --json | head -1",
  ],
  options: {
    "-n, --limit COUNT": "at most this many",
    "--status STATE": `by state: ${LIST_STATUSES.join(", ")} (live: working or waiting; unclean: interrupted, failed or damaged; rolled: continued in another agent session)`,
    "--since TIME": "changed since then: 14d, 12h or 2026-01-31",
    "--repo PATH": "of this folder or one below it",
    "--cwd, --folder PATH": "of exactly this folder, as recorded",
    "--tag TAG": "with this tag",
    "--label LABEL": "with an entry that has this label",
    "--agent NAME": "last run by this agent",
    "--archived": "archived conversations only",
    "--all": "archived conversations too",
    "--unlisted": "conversations that belong to a program",
    "--agents":
      "sessions that only an agent has (Claude Code, Codex), as AGENT:SESSION; `holdfast acp` continues one under that id",
  },
  async run(call) {
    const [prefix] = call.args;
    const limit = call.flags.count("limit") ?? Number.POSITIVE_INFINITY;
    const filter = filterOf(call);
    if (call.flags.has("agents")) {
      const { printAgentSessions } = await import("#edges/cli/chat/native-records");
      return printAgentSessions(call, { limit, filter });
    }
    const holdfast = await call.open({ readOnly: true });
    const withArchived = filter.archived === true || call.flags.has("all");
    const input = { ...filter, ...call.flags.texts("status"), ...(prefix ? { prefix } : {}) };
    let count = 0;
    for await (const row of rowsOf(holdfast, input)) {
      if (count >= limit) break;
      if (!withArchived && row.summary?.metadata.archived === true) continue;
      await printRow(call, holdfast, row, { isFirst: count++ === 0 });
    }
    if (count === 0 && !call.json && limit > 0) await remark(call, nothingIn(call, filter));
  },
};

/** Prints a conversation, the first one below headings. `lead` stands before a row at a terminal. */
export async function printRow(
  { io: { out }, json }: Call,
  holdfast: Holdfast,
  row: ListedRow,
  { isFirst, lead = "" }: { readonly isFirst: boolean; readonly lead?: string },
): Promise<void> {
  if (json) return out.write(jsonLine(row));
  const view = { columns: out.columns - lead.length, style: out.style };
  if (isFirst && out.isTerminal) await out.write(`${" ".repeat(lead.length)}${headingRow(view)}\n`);
  const needsState = out.isTerminal || row.damage !== null;
  const state = needsState ? await rowState(holdfast, row) : { agent: null, state: "" };
  await out.write(
    `${out.isTerminal ? lead + listRow(row, state, view) : plainRow(row, state.state, view)}\n`,
  );
}

async function* rowsOf(holdfast: Holdfast, filter: object): AsyncGenerator<ListedRow> {
  for await (const page of pagesOf(listConversations, { ...filter, limit: PAGE }, { holdfast }))
    yield* page.conversations;
}

function nothingIn({ args, flags }: Call, filter: ListFilter): string {
  if (args.length > 0) return "No conversation id starts with that.";
  return Object.keys(filter).length === 0 && flags.text("status") === undefined
    ? "No conversations yet. `holdfast new` creates one; `holdfast demo` shows what Holdfast does."
    : "No conversations match these filters.";
}

function filterOf({ flags }: Call): ListFilter {
  const { repo, since, ...texts } = flags.texts("cwd", "tag", "agent", "label", "repo", "since");
  return {
    ...texts,
    ...(repo === undefined ? {} : { under: resolve(repo) }),
    ...(since === undefined ? {} : { since: pastTime("since", since, Date.now()) }),
    ...(flags.has("archived") ? { archived: true } : {}),
    ...(flags.has("unlisted") ? { unlisted: true } : {}),
  };
}

const [AGE, ENTRIES, STATE, AGENT, FOLDER, TITLE_MIN] = [7, 7, 12, 8, 14, 8]; // together 80 columns
const [AGENT_MAX, FOLDER_MAX] = [24, 32];

/** A wider terminal gives its columns to what is cut: names of models first, then folders, then titles. */
function widthsFor(columns: number): { readonly agent: number; readonly folder: number } {
  const spare = Math.max(0, columns - 80);
  const agent = Math.min(AGENT_MAX, AGENT + Math.ceil(spare / 2));
  const folder = Math.min(FOLDER_MAX, FOLDER + Math.floor((spare - (agent - AGENT)) / 2));
  return { agent, folder };
}

/** What a row says beyond what the list knows: who carries it, and how it stands. */
interface RowState {
  readonly agent: string | null;
  readonly state: string;
}

/** What the list itself says; a log that nobody counted is asked for its newest facts, so it costs no more if it is long. */
async function rowState(holdfast: Holdfast, row: ListedRow): Promise<RowState> {
  const { conversation, summary } = row;
  const state = row.state === "quiet" ? "" : STATES[row.state].label;
  try {
    const agent =
      summary === null
        ? await latestAgent(holdfast, conversation)
        : (summary.agent ?? modelName(summary.model));
    return { agent, state };
  } catch (error) {
    if (!isLogError(error)) throw error;
    return { agent: null, state };
  }
}

/** Where no agent carries a conversation it is the model that people look for. */
function modelName(model: string | null): string | null {
  return model === null ? null : model.slice(model.indexOf("/") + 1);
}

async function latestAgent(holdfast: Holdfast, conversation: string): Promise<string | null> {
  const types = ["upstream_link"] as const;
  const log = holdfast.handle(parseConversationId(conversation));
  const [stored] = await log.entries({ types, newestFirst: true, limit: 1 });
  const link = stored === undefined ? null : decodeEntry(stored);
  return link?.type === "upstream_link" ? link.agent : null;
}

interface RowStyle {
  readonly columns: number;
  readonly style: Style;
}

function headingRow({ style, columns }: RowStyle): string {
  const widths = widthsFor(columns);
  const cells = [
    pad("ID", SHORT_ID_CHARS),
    pad("CHANGED", AGE),
    "ENTRIES".padStart(ENTRIES),
    pad("STATE", STATE),
    pad("AGENT", widths.agent),
    pad("FOLDER", widths.folder),
    "TITLE",
  ];
  return style.dim(cells.join("  "));
}

/** A row for a person at a terminal: ids by their end. */
function listRow(row: ConversationRow, { agent, state }: RowState, { style, columns }: RowStyle): string {
  const widths = widthsFor(columns);
  const origin = row.origin === null ? "" : `⑂ ${shortId(row.origin.conversation)}`;
  const title = [row.title === null ? "" : safeLine(row.title), origin].filter(Boolean).join(" ");
  const paint = state === "damaged" ? style.red : style.yellow;
  const cells = [
    style.cyan(pad(shortId(row.conversation), SHORT_ID_CHARS)),
    style.dim(pad(ageOf(row.updatedAt, Date.now()), AGE)),
    String(row.headSeq).padStart(ENTRIES),
    paint(pad(state, STATE)),
    pad(fit(safeLine(agent ?? ""), widths.agent), widths.agent),
    pad(fitEnd(safeLine(row.cwd ?? ""), widths.folder), widths.folder),
  ];
  const used = SHORT_ID_CHARS + AGE + ENTRIES + STATE + widths.agent + widths.folder + 2 * cells.length;
  return `${cells.join("  ")}  ${fit(title, Math.max(TITLE_MIN, columns - used))}`.trimEnd();
}

/** A row for a pipe: the whole id, and no more than the list itself knows. */
function plainRow(row: ConversationRow, state: string, { style, columns }: RowStyle): string {
  const id = pad(safeLine(row.conversation), 36);
  const age = pad(ageOf(row.updatedAt, Date.now()), 8);
  const count = String(row.headSeq).padStart(6);
  const origin = row.origin === null ? "" : `⑂ ${safeLine(row.origin.conversation)} `;
  const title = row.title === null ? "" : safeLine(row.title);
  const chatSession = Math.max(16, columns - 36 - 8 - 6 - 6);
  const mark = state === "" ? "" : `⚠ ${state} `;
  return `${style.cyan(id)}  ${style.dim(age)}  ${count}  ${style.red(mark)}${fit(`${title}${title === "" ? "" : " "}${origin}`.trim(), chatSession)}`.trimEnd();
}

/** Of a folder the end says more than the start. */
function fitEnd(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - width + 1)}`;
}
