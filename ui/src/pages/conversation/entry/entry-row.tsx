import type { ComponentChildren, JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import type { ThreadRow } from "#edges/http/client/views";
import type { Entry, EntryOf } from "#log/entry";
import { Carrier, carrierTone } from "../../../parts/marks/carrier.tsx";
import { spanText, tokensText } from "../../../parts/numbers.ts";
import { Clock } from "../../../parts/shown-time.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import { isPromptOf, wordsOf } from "../../../text/message-words.ts";
import { EditForm, LabelForm } from "./edit-form.tsx";
import { EntryActions } from "./entry-actions.tsx";
import { ShowAll, useWholeMessage } from "./long-entry.tsx";
import { MessageBody } from "./message-body.tsx";
import { NoteRow } from "./note-row.tsx";
import { CompactionRow, RibbonRow } from "./ribbon-row.tsx";
import { SiblingSwitch } from "./sibling-switch.tsx";
import { ToolCard } from "./tool-card.tsx";

/** What is being done at an entry: its words are changed, or its label. */
export type Doing = "edit" | "label" | null;

export interface EntryRowProps {
  readonly row: ThreadRow;
  readonly conversation: string;
  /** A model is sent it, or what stands for it. */
  readonly isSent: boolean;
  readonly view: "normal" | "focused" | "raw";
  readonly isSelected: boolean;
  readonly doing: Doing;
  readonly setDoing: (doing: Doing) => void;
  readonly verify: () => void;
}

/** The seq, the rail with the log and its carrier, and what is said. */
function EntryFrame({
  props,
  node,
  children,
}: {
  readonly props: EntryRowProps;
  readonly node: "user" | "reply" | "tool" | "unknown";
  readonly children: ComponentChildren;
}): JSX.Element {
  const { row, conversation, isSelected, isSent } = props;
  const { entry } = row;
  const carrier = row.carriers[0] ?? null;
  const classes = ["entry", ...(node === "tool" ? ["is-tool"] : []), ...(isSelected ? ["is-selected"] : [])];
  return (
    <div
      class={classes.join(" ")}
      data-entry={entry.id}
      data-sent={isSent ? undefined : "no"}
      data-up={carrier === null ? undefined : carrierTone(carrier)}
    >
      <a
        class="seq"
        href={conversationAddress(conversation, "", { at: entry.id })}
        aria-label={`Entry ${entry.seq}`}
      >
        {entry.seq}
      </a>
      <span class="rail">
        <span class={node === "reply" ? "node" : `node ${node}`} />
      </span>
      <div class="body">{children}</div>
    </div>
  );
}

function MessageHead({
  props,
  entry,
}: {
  readonly props: EntryRowProps;
  readonly entry: EntryOf<"message">;
}): JSX.Element {
  const { row } = props;
  const { message } = entry;
  const usage = message.role === "assistant" ? message.usage : undefined;
  const who =
    message.role === "user"
      ? isPromptOf(message)
        ? "You"
        : "Holdfast (to the model)"
      : safeLine(message.role === "assistant" ? (message.model ?? "Agent") : "Tool");
  return (
    <div class="msg-head">
      <span class="who">{who}</span>
      <SiblingSwitch entry={entry.id} all={row.siblings} />
      {row.label === null ? null : (
        <span class="tag">
          <span class="cut">{safeLine(row.label)}</span>
        </span>
      )}
      {row.hidden ? (
        <span class="tag" data-testid="hidden">
          hidden from the model
        </span>
      ) : null}
      {row.source !== null ? <span class="tag">inherited</span> : null}
      <span class="meta">
        {usage === undefined ? null : (
          <span class="tk">
            in {tokensText(usage.inputTokens ?? 0)} · out {tokensText(usage.outputTokens ?? 0)}
          </span>
        )}
        {row.carriers.map((place, at) => (
          <span key={at} class="row-flex">
            {at === 0 ? null : "→ "}
            <Carrier place={place} />
          </span>
        ))}
        <Clock time={entry.time} />
      </span>
    </div>
  );
}

function Message({
  props,
  entry,
}: {
  readonly props: EntryRowProps;
  readonly entry: EntryOf<"message">;
}): JSX.Element {
  const { row, conversation, doing, setDoing, verify } = props;
  const whole = useWholeMessage(conversation, row, entry);
  const { message } = whole.entry;
  const isPrompt = isPromptOf(message);
  const close = (): void => setDoing(null);
  const form = { conversation, entry: entry.id, close };
  const isUnknown = row.calls.some(({ state }) => state === "unknown");
  return (
    <EntryFrame props={props} node={isPrompt ? "user" : isUnknown ? "unknown" : "reply"}>
      <article
        class={`msg${isPrompt ? " user" : ""}${props.isSelected ? " is-shown" : ""}`}
        aria-label={`${isPrompt ? "You" : "Agent"}, entry ${entry.seq}`}
      >
        <MessageHead props={props} entry={entry} />
        {doing === "edit" ? (
          <EditForm {...form} first={wordsOf(message.content)} />
        ) : (
          <MessageBody
            content={message.content}
            conversation={conversation}
            isCut={row.cut !== null && whole.entry === entry}
          />
        )}
        {doing === "label" ? <LabelForm {...form} first={row.label ?? ""} /> : null}
        {whole.rest === null ? null : <ShowAll rest={whole.rest} />}
        <EntryActions
          row={row}
          conversation={conversation}
          label={() => setDoing("label")}
          {...(isPrompt ? { edit: () => setDoing("edit") } : {})}
        />
      </article>
      {row.calls.map((shown) => (
        <ToolCard key={shown.call} shown={shown} conversation={conversation} verify={verify} />
      ))}
    </EntryFrame>
  );
}

function Result({
  props,
  entry,
}: {
  readonly props: EntryRowProps;
  readonly entry: EntryOf<"message">;
}): JSX.Element {
  const { row, conversation, doing, setDoing } = props;
  const { id } = entry;
  const whole = useWholeMessage(conversation, row, entry);
  return (
    <EntryFrame props={props} node="tool">
      <div class={`msg result${props.isSelected ? " is-shown" : ""}`}>
        {row.calls.map((shown) => (
          <ToolCard key={shown.call} shown={shown} result={whole.entry} conversation={conversation}>
            {whole.rest === null ? null : <ShowAll rest={whole.rest} />}
          </ToolCard>
        ))}
        {row.label === null ? null : <span class="tag">{safeLine(row.label)}</span>}
        {row.hidden ? (
          <span class="tag" data-testid="hidden">
            hidden from the model
          </span>
        ) : null}
        {doing === "label" ? (
          <LabelForm
            conversation={conversation}
            entry={id}
            close={() => setDoing(null)}
            first={row.label ?? ""}
          />
        ) : null}
        <EntryActions row={row} conversation={conversation} label={() => setDoing("label")} />
      </div>
    </EntryFrame>
  );
}

function RawEntry({ props, entry }: { readonly props: EntryRowProps; readonly entry: Entry }): JSX.Element {
  const { payload: _, ...shown } = entry;
  return (
    <EntryFrame props={props} node="tool">
      <pre class="code term" tabIndex={0} role="group" aria-label={`Entry ${entry.seq} as JSON`}>
        {safeText(JSON.stringify(shown, null, 2))}
      </pre>
    </EntryFrame>
  );
}

/** Calls that failed, and those of unknown outcome, are shown in every view. */
function isRemarkable({ calls }: EntryRowProps["row"]): boolean {
  return calls.some(({ state }) => state === "unknown" || state === "failed");
}

function Body({ props }: { readonly props: EntryRowProps }): JSX.Element | null {
  const { row, conversation, view, isSent } = props;
  const { entry } = row;
  const carrier = row.carriers[0] ?? null;
  if (view === "raw") return <RawEntry props={props} entry={entry} />;
  if (entry.type === "compaction")
    return <CompactionRow entry={entry} carrier={carrier} conversation={conversation} />;
  if (entry.type !== "message")
    return view === "focused" ? null : (
      <NoteRow entry={entry} carrier={carrier} isSent={isSent} isSelected={props.isSelected} />
    );
  if (entry.message.role === "toolResult")
    return view === "focused" && !isRemarkable(row) ? null : <Result props={props} entry={entry} />;
  const isSilent = entry.message.role === "assistant" && wordsOf(entry.message.content) === "";
  return view === "focused" && isSilent && !isRemarkable(row) ? null : (
    <Message props={props} entry={entry} />
  );
}

/** Where nothing happened for a while. */
function IdleGap({ props, ms }: { readonly props: EntryRowProps; readonly ms: number }): JSX.Element {
  const { isSent, row } = props;
  const { carrierBefore } = row;
  return (
    <div
      class="entry is-gap"
      data-sent={isSent ? undefined : "no"}
      data-up={carrierBefore === null ? undefined : carrierTone(carrierBefore)}
    >
      <span />
      <span class="rail" />
      <div class="body idle-gap">
        <span>idle for {spanText(ms)}</span>
        <span class="line" />
      </div>
    </div>
  );
}

/** One place of the branch: what happened before it, and what was said. */
export function EntryRow(props: EntryRowProps): JSX.Element {
  const { row, conversation } = props;
  return (
    <>
      {row.idleMs === null ? null : <IdleGap props={props} ms={row.idleMs} />}
      {row.changes.map((change) => (
        <RibbonRow
          key={change.seq}
          change={change}
          conversation={conversation}
          before={row.entry.parentId}
          carrier={row.carrierBefore}
          isSent={props.isSent}
        />
      ))}
      <Body props={props} />
    </>
  );
}
