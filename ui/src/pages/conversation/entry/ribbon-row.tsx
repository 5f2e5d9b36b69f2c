import type { ComponentChildren, JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import type { EntryOf } from "#log/entry";
import type { ThreadRow } from "#edges/http/client/views";
import { changeText, reasonText } from "#operations/text";
import { Carried } from "../../../parts/marks/carried.tsx";
import { Carrier, carrierTone } from "../../../parts/marks/carrier.tsx";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { tokensText } from "../../../parts/numbers.ts";
import { Clock, momentText } from "../../../parts/shown-time.tsx";
import { conversationAddress } from "../../../router/addresses.ts";

type Change = ThreadRow["changes"][number];

interface FrameProps {
  readonly kind: "roll" | "fold" | "park";
  readonly seq: number;
  readonly icon: IconName;
  /** The code of why it is there, for style sheets and tests. */
  readonly cause: string;
  readonly from?: number | null;
  readonly to?: number | null;
  /** What lies there is still sent: the line is as dark as beside it. */
  readonly isSent?: boolean;
  readonly children: ComponentChildren;
}

const PARK_ICONS: { readonly [K in Exclude<Change["kind"], "session">]: IconName } = {
  again: "replay",
  parked: "pause",
  broken: "warn",
};

function tone(place: number | null | undefined): "odd" | "even" | undefined {
  return place == null ? undefined : carrierTone(place);
}

function RibbonFrame({ kind, seq, icon, cause, from, to, isSent = true, children }: FrameProps): JSX.Element {
  return (
    <div
      class={`entry is-ribbon ${kind}`}
      data-up={tone(to)}
      data-from={tone(from)}
      data-sent={isSent ? undefined : "no"}
    >
      <span class="seq">{seq}</span>
      <span class="rail">
        <span class="badge-node">
          <Icon name={icon} />
        </span>
      </span>
      <div class="body">
        <div class={`ribbon ${kind}`} data-cause={cause}>
          {children}
        </div>
      </div>
    </div>
  );
}

interface RowProps<R> {
  readonly change: R;
  readonly conversation: string;
  /** The entry in front of it, and who carried that. */
  readonly before: string | null;
  readonly carrier: number | null;
  readonly isSent?: boolean;
}

type SessionChange = Extract<Change, { readonly kind: "session" }>;

/** A new session and why it started, which is no error. */
function RolloverRow({
  change,
  conversation,
  before,
  carrier,
  isSent = true,
}: RowProps<SessionChange>): JSX.Element {
  const to = change.link;
  const from = to === null || to === 0 ? null : to - 1;
  return (
    <RibbonFrame
      kind="roll"
      seq={change.seq}
      icon="roll"
      cause={safeLine(change.reason)}
      from={carrier}
      to={to}
      isSent={isSent}
    >
      <div class="main">
        <div class="top">
          <b>Rollover</b>
          {from === null ? null : <Carrier place={from} />}
          {from === null ? null : <span>→</span>}
          {to === null ? null : <Carrier place={to} />}
          <span class="why">{safeLine(changeText(change))}</span>
          {change.ended === null || change.ended === change.reason ? null : (
            <span class="faint">{safeLine(reasonText(change.ended))}</span>
          )}
          <span class="when">
            <Clock time={change.time} />
          </span>
        </div>
        <Carried priorContext={change.priorContext} fidelity={change.fidelity}>
          <a class="link" href={conversationAddress(conversation, "context", { at: before })}>
            See what was sent
          </a>
        </Carried>
      </div>
    </RibbonFrame>
  );
}

/** A new session, a turn that waits, or one that did not complete. */
export function RibbonRow({ change, ...props }: RowProps<Change>): JSX.Element {
  if (change.kind === "session") return <RolloverRow change={change} {...props} />;
  const { carrier, isSent = true } = props;
  return (
    <RibbonFrame
      kind="park"
      seq={change.seq}
      icon={PARK_ICONS[change.kind]}
      cause={change.kind === "broken" ? safeLine(change.outcome) : change.kind}
      to={carrier}
      isSent={isSent}
    >
      <span>
        {safeLine(changeText(change))}
        {change.kind === "parked" ? <> The same session continues at {momentText(change.until)}.</> : null}
      </span>
      <span class="line" />
      <span class="when">
        <Clock time={change.time} />
      </span>
    </RibbonFrame>
  );
}

/** Where older entries were folded into a summary. */
export function CompactionRow({
  entry,
  carrier,
  conversation,
}: {
  readonly entry: EntryOf<"compaction">;
  readonly carrier: number | null;
  readonly conversation: string;
}): JSX.Element {
  const { id, seq, time, summary, tokensBefore, firstKeptEntryId } = entry;
  return (
    <RibbonFrame kind="fold" seq={seq} icon="fold" cause="compaction" to={carrier}>
      <div class="main">
        <div class="top">
          <b>Compaction</b>
          {tokensBefore === undefined ? null : <span>summarized {tokensText(tokensBefore)} tokens</span>}
          <span class="faint">
            {firstKeptEntryId === undefined
              ? "replaces everything before it"
              : `replaces what lies before ${firstKeptEntryId}`}{" "}
            in the context; it stays in the log
          </span>
          <span class="when">
            <Clock time={time} />
          </span>
        </div>
        <blockquote class="plain">{safeText(summary)}</blockquote>
        <div class="top">
          <a class="link" href={conversationAddress(conversation, "context", { at: id })}>
            Context after
          </a>
          {entry.parentId === null ? null : (
            <a class="link" href={conversationAddress(conversation, "context", { at: entry.parentId })}>
              Context before
            </a>
          )}
        </div>
      </div>
    </RibbonFrame>
  );
}
