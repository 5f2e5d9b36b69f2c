import type { JSX } from "preact";
import { safeLine } from "#transfer/shown/shown-text";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery } from "../../router/location.ts";
import type { Exact, Sizes } from "./context-page.tsx";

const WIDTH = 264;
const SHOWN_MAX = 400; // more rows tell nothing; the first and the last do

interface ContextRow {
  readonly place: number;
  readonly entry: string | null;
  readonly kind: "summary" | "user" | "assistant" | "tool" | "other";
  readonly says: string;
  readonly tokens: number;
  /** Where its bar begins, and how long it is. */
  readonly from: number;
  readonly width: number;
}

const KINDS: Readonly<Record<ContextRow["kind"], readonly [IconName, string, string]>> = {
  summary: ["fold", "Summary", "sum"],
  user: ["user", "You", "said"],
  assistant: ["model", "Agent", "said"],
  tool: ["terminal", "Tool", "tool"],
  other: ["settings", "Other", "sys"],
};

function saysOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = (content as readonly { readonly type?: string; readonly [name: string]: unknown }[]).map(
    (block) => {
      if (typeof block["text"] === "string") return block["text"];
      return block.type === "toolCall" ? `calls ${String(block["name"])}` : `[${String(block.type)}]`;
    },
  );
  return texts.join(" ");
}

function rowsOf(sizes: Sizes, exact: Exact): readonly ContextRow[] {
  const total = Math.max(1, sizes.tokens);
  let before = 0;
  return sizes.messages.map(({ entry, role, tokens }, place): ContextRow => {
    const from = (before / total) * WIDTH;
    before += tokens;
    const kind =
      sizes.compaction !== null && (entry === sizes.compaction || (entry === null && place === 0))
        ? "summary"
        : role === "toolResult"
          ? "tool"
          : role === "user" || role === "assistant"
            ? role
            : "other";
    const says = safeLine(saysOf(exact.messages[place]?.content).slice(0, 300));
    return { place, entry, kind, says, tokens, from, width: Math.max(1.5, (tokens / total) * WIDTH) };
  });
}

function Row({
  row,
  isSelected,
  conversation,
}: {
  readonly row: ContextRow;
  readonly isSelected: boolean;
  readonly conversation: string;
}): JSX.Element {
  const [icon, name, bar] = KINDS[row.kind];
  const select = (): void => changeQuery({ message: row.place === 0 ? null : String(row.place) });
  return (
    <tr class={isSelected ? "is-selected" : ""} onClick={select}>
      <td>
        <button class="kind" type="button" aria-pressed={isSelected} onClick={select}>
          <Icon name={icon} />
          {name}
        </button>
      </td>
      <td class="src">
        {row.entry === null ? null : (
          <a href={conversationAddress(conversation, "", { at: row.entry })}>{row.entry.slice(0, 8)}</a>
        )}
      </td>
      <td class="what cut">{row.says}</td>
      <td class="fall">
        <svg viewBox={`0 0 ${WIDTH} 27`} preserveAspectRatio="none" aria-hidden="true">
          <rect class={`bar ${bar}`} x={row.from} y="8" width={row.width} height="11" rx="1" />
        </svg>
      </td>
      <td class="tok num">{tokensText(row.tokens)}</td>
    </tr>
  );
}

/** Each bar begins where the one before it ended. */
export function ContextTable({
  sizes,
  exact,
  selected,
  conversation,
}: {
  readonly sizes: Sizes;
  readonly exact: Exact;
  readonly selected: number;
  readonly conversation: string;
}): JSX.Element {
  const rows = rowsOf(sizes, exact);
  const left = Math.max(0, rows.length - SHOWN_MAX);
  const shown = left === 0 ? rows : [...rows.slice(0, SHOWN_MAX / 2), ...rows.slice(-SHOWN_MAX / 2)];
  return (
    <table class="items">
      <caption class="sr">Messages of the context in the order they are sent</caption>
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col" class="src">
            Entry
          </th>
          <th scope="col" class="what">
            Says
          </th>
          <th scope="col" class="fall">
            0 to {sizes.tokens.toLocaleString("en-US")} tokens
          </th>
          <th scope="col" class="num">
            Tokens
          </th>
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <Row key={row.place} row={row} isSelected={row.place === selected} conversation={conversation} />
        ))}
        {left === 0 ? null : (
          <tr class="folded">
            <td colSpan={5}>{left.toLocaleString("en-US")} more in between</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
