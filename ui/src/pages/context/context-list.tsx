import type { JSX } from "preact";
import { shortId } from "#transfer/views/safe-text";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { countText, tokensText } from "../../parts/numbers.ts";
import { VirtualList, type WindowList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import type { ContextRow, Folded, ItemKind, ListedRow } from "./context-rows.ts";

const WIDTH = 264;
const ROW_PX = 28;

/** Its icon, its bar, and the word for the bar. */
const SHOWN: Readonly<Record<ItemKind, readonly [IconName, string]>> = {
  summary: ["fold", "sum"],
  prompt: ["user", "said"],
  reply: ["model", "said"],
  result: ["terminal", "tool"],
  unknown: ["unknown", "unk"],
  other: ["settings", "sys"],
};

export function Legend(): JSX.Element {
  const bars = [
    ["sum", "summary"],
    ["said", "said"],
    ["tool", "tools"],
    ["unk", "outcome unknown"],
  ] as const;
  return (
    <span class="legend wide">
      {bars.map(([bar, word]) => (
        <span key={bar}>
          <svg viewBox="0 0 14 10" class="fall" aria-hidden="true">
            <rect class={`bar ${bar}`} x="0.5" y="0.5" width="13" height="9" rx="1" />
          </svg>
          {word}
        </span>
      ))}
    </span>
  );
}

/** Pressed again it is let go of. */
function select(place: number): void {
  const next = String(place);
  changeQuery({ message: query.value.get("message") === next ? null : next });
}

function EntryCell({
  row,
  conversation,
}: {
  readonly row: ContextRow;
  readonly conversation: string;
}): JSX.Element {
  return (
    <span role="cell" class="src cut">
      {row.entry === null ? null : (
        <a href={conversationAddress(conversation, "", { at: row.entry })} title={row.entry}>
          {shortId(row.entry)}
        </a>
      )}
    </span>
  );
}

function Item({
  row,
  total,
  isSelected,
  conversation,
}: {
  readonly row: ContextRow;
  readonly total: number;
  readonly isSelected: boolean;
  readonly conversation: string;
}): JSX.Element {
  const [icon, bar] = SHOWN[row.kind];
  const scale = WIDTH / Math.max(1, total);
  return (
    <div class={isSelected ? "ctx-row is-selected" : "ctx-row"}>
      <span role="cell">
        <button class="kind" type="button" aria-pressed={isSelected} onClick={() => select(row.place)}>
          <Icon name={icon} />
          <span class="cut">{row.name}</span>
          {row.kind === "unknown" ? <span class="sr">, outcome unknown</span> : null}
        </button>
      </span>
      <EntryCell row={row} conversation={conversation} />
      <span role="cell" class="what cut">
        {row.says}
      </span>
      <span role="cell" class="fall">
        <svg viewBox={`0 0 ${WIDTH} 27`} preserveAspectRatio="none" aria-hidden="true">
          <rect
            class={`bar ${bar}`}
            x={Math.min(WIDTH - 1.5, row.from * scale)}
            y="8"
            width={Math.max(1.5, row.tokens * scale)}
            height="11"
            rx="1"
          />
        </svg>
      </span>
      <span role="cell" class="tok num">
        {row.tokens.toLocaleString("en-US")}
      </span>
    </div>
  );
}

/** One line for all that was summarized; pressed, it is listed in place. */
function FoldLine({ fold }: { readonly fold: ShownFold }): JSX.Element {
  const { folded, isOpen, address } = fold;
  return (
    <div class="ctx-row folded">
      <span role="cell">
        <button
          class="kind"
          type="button"
          aria-expanded={isOpen}
          onClick={() => changeQuery({ folded: isOpen ? null : "1" })}
        >
          <Icon name={isOpen ? "down" : "right"} />
          summarized
        </button>
      </span>
      <span role="cell" class="src" />
      <span role="cell" class="what cut">
        {countText(folded.messages, "message")} ·{" "}
        <a class="link" href={address}>
          context before
        </a>
      </span>
      <span role="cell" class="fall" />
      <span role="cell" class="tok num">
        <del>{tokensText(folded.tokens)}</del>
      </span>
    </div>
  );
}

/** A message that a summary stands for: in the log, and not sent. */
function FoldedItem({
  row,
  conversation,
}: {
  readonly row: ContextRow;
  readonly conversation: string;
}): JSX.Element {
  return (
    <div class="ctx-row folded in-place">
      <span role="cell">
        <span class="kind">
          <Icon name={SHOWN[row.kind][0]} />
          <span class="cut">{row.name}</span>
          <span class="sr">, summarized</span>
        </span>
      </span>
      <EntryCell row={row} conversation={conversation} />
      <span role="cell" class="what cut">
        {row.says}
      </span>
      <span role="cell" class="fall" />
      <span role="cell" class="tok num">
        <del>{row.tokens.toLocaleString("en-US")}</del>
      </span>
    </div>
  );
}

export interface ShownFold {
  readonly folded: Folded;
  /** The context in front of the compaction. */
  readonly address: string;
  readonly isOpen: boolean;
}

/** Every item that is sent, and behind the summary what it stands for. */
export function ContextList({
  rows,
  total,
  selected,
  conversation,
  fold,
  onReady,
}: {
  readonly rows: readonly ListedRow[];
  readonly total: number;
  readonly selected: number;
  readonly conversation: string;
  readonly fold: ShownFold | null;
  readonly onReady: (list: WindowList) => void;
}): JSX.Element {
  const render = (index: number): JSX.Element => {
    const listed = rows[index];
    if (listed === undefined) return <div class="ctx-row" />;
    if (listed.is === "fold") return fold === null ? <div class="ctx-row" /> : <FoldLine fold={fold} />;
    if (listed.is === "folded") return <FoldedItem row={listed.row} conversation={conversation} />;
    const { row } = listed;
    return <Item row={row} total={total} isSelected={row.place === selected} conversation={conversation} />;
  };
  return (
    <div role="table" aria-label="Sent messages, in order">
      <div role="rowgroup">
        <div class="ctx-row heads" role="row">
          <span role="columnheader">Item</span>
          <span role="columnheader" class="src">
            Entry
          </span>
          <span role="columnheader" class="what">
            Text
          </span>
          <span role="columnheader" class="fall">
            0 to {total.toLocaleString("en-US")} tokens
          </span>
          <span role="columnheader" class="num">
            Tokens
          </span>
        </div>
      </div>
      <VirtualList
        count={rows.length}
        role="rowgroup"
        rowRole="row"
        overscan={12}
        estimate={() => ROW_PX}
        keyOf={(index) => index}
        render={render}
        onReady={onReady}
      />
    </div>
  );
}
