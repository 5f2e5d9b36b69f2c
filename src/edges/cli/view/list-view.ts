import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import type { ConversationRow } from "#store/requests";
import { fit, pad, safeLine, type Style } from "#edges/cli/terminal/terminal";
import type { ListedRow } from "#operations/views/listed-rows";
import { STATES } from "#operations/text";
import { ageOf } from "./time.ts";
import { SHORT_ID_CHARS, shortId } from "#transfer/views/safe-text";

const [AGE, ENTRIES, STATE, AGENT, FOLDER, TITLE_MIN] = [7, 7, 12, 8, 14, 12]; // together 80 columns
const [AGENT_MAX, FOLDER_MAX] = [24, 32];

/** A wider terminal gives its columns to what is cut: names of models first, then folders, then titles. */
function widthsFor(columns: number): { readonly agent: number; readonly folder: number } {
  const spare = Math.max(0, columns - 80);
  const agent = Math.min(AGENT_MAX, AGENT + Math.ceil(spare / 2));
  const folder = Math.min(FOLDER_MAX, FOLDER + Math.floor((spare - (agent - AGENT)) / 2));
  return { agent, folder };
}

/** What a row says beyond what the list knows: who carries it, and how it stands. */
export interface RowState {
  readonly agent: string | null;
  readonly state: string;
}

/** What the list itself says; a log that nobody counted is asked for its newest facts, so it costs no more if it is long. */
export async function rowState(holdfast: Holdfast, row: ListedRow): Promise<RowState> {
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

export function headingRow({ style, columns }: RowStyle): string {
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
export function listRow(
  row: ConversationRow,
  { agent, state }: RowState,
  { style, columns }: RowStyle,
): string {
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
export function plainRow(row: ConversationRow, state: string, { style, columns }: RowStyle): string {
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
