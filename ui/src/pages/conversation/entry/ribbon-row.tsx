import { priorContextOf } from "#log/projections/sent-context";
import type { ComponentChildren, JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import type { EntryOf } from "#log/entry";
import { reasonText } from "#operations/text";
import { Carried } from "../../../parts/marks/carried.tsx";
import { Carrier, carrierTone } from "../../../parts/marks/carrier.tsx";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { tokensText } from "../../../parts/numbers.ts";
import { Clock, momentText } from "../../../parts/shown-time.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import type { Links } from "../thread/thread-state.ts";
import type { Ribbon } from "../thread/turn-facts.ts";
import { ribbonText } from "./ribbon-text.ts";

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

const PARK_ICONS: { readonly [K in Exclude<Ribbon["kind"], "rollover">]: IconName } = {
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
  readonly ribbon: R;
  readonly links: Links;
  readonly conversation: string;
  /** The entry in front of it, and who carried that. */
  readonly before: string | null;
  readonly carrier: number | null;
  readonly isSent?: boolean;
}

type Rollover = Extract<Ribbon, { readonly kind: "rollover" }>;

/** A new session and why it started, which is no error. */
function RolloverRow({
  ribbon,
  links,
  conversation,
  before,
  carrier,
  isSent = true,
}: RowProps<Rollover>): JSX.Element {
  const to = links.findIndex(({ id, since }) => id === ribbon.upstream && since === ribbon.time);
  const from = to > 0 ? to - 1 : null;
  return (
    <RibbonFrame
      kind="roll"
      seq={ribbon.seq}
      icon="roll"
      cause={ribbon.reason}
      from={carrier}
      to={to === -1 ? null : to}
      isSent={isSent}
    >
      <div class="main">
        <div class="top">
          <b>Rollover</b>
          {from === null ? null : <Carrier place={from} />}
          {from === null ? null : <span>→</span>}
          {to === -1 ? null : <Carrier place={to} />}
          <span class="why">{ribbonText(ribbon)}</span>
          {ribbon.ended === null || ribbon.ended === ribbon.reason ? null : (
            <span class="faint">{safeLine(reasonText(ribbon.ended))}</span>
          )}
          <span class="when">
            <Clock time={ribbon.time} />
          </span>
        </div>
        <Carried
          priorContext={(ribbon.attempt && priorContextOf(ribbon.attempt)) ?? null}
          fidelity={ribbon.attempt?.fidelity ?? null}
        >
          <a class="link" href={conversationAddress(conversation, "context", { at: before })}>
            See what was sent
          </a>
        </Carried>
      </div>
    </RibbonFrame>
  );
}

/** A new session, a turn that waits, or one that did not complete. */
export function RibbonRow({ ribbon, ...props }: RowProps<Ribbon>): JSX.Element {
  if (ribbon.kind === "rollover") return <RolloverRow ribbon={ribbon} {...props} />;
  const { carrier, isSent = true } = props;
  return (
    <RibbonFrame
      kind="park"
      seq={ribbon.seq}
      icon={PARK_ICONS[ribbon.kind]}
      cause={ribbon.kind === "broken" ? ribbon.outcome : ribbon.kind}
      to={carrier}
      isSent={isSent}
    >
      <span>
        {ribbonText(ribbon)}
        {ribbon.kind === "parked" ? <> Free again at {momentText(ribbon.until)}.</> : null}
      </span>
      <span class="line" />
      <span class="when">
        <Clock time={ribbon.time} />
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
          {tokensBefore === undefined ? null : <span>of {tokensText(tokensBefore)} tokens</span>}
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
