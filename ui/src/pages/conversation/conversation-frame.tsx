import { nameOf } from "../../text/conversation-name.ts";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError } from "#edges/http/client/index";
import { safeLine } from "#transfer/views/safe-text";
import { useIssueCount } from "../../data/issue-counts-shown.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { noteGone, noteOpened } from "../../frame/recent.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { costText, spentText, tokensIn, tokensText } from "../../parts/numbers.ts";
import { StatusDot } from "../../parts/marks/status-dot.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { navigate } from "../../router/location.ts";
import { type PageRow, PAGES } from "../pages.ts";
import { ReplayMark } from "../replay/replay-mark.tsx";
import { tabTools } from "./tab-tools.ts";
import { TitleLine } from "./title-line.tsx";
import { type OpenedConversation, useConversation } from "./opened-conversation.ts";

const TABS: readonly PageRow[] = PAGES.filter(({ isTab }) => isTab === true);

function Facts({ opened }: { readonly opened: OpenedConversation }): JSX.Element {
  const { view } = opened;
  const { summary, lease } = view;
  return (
    <div class="facts grow">
      {summary?.agent == null && summary?.model == null ? null : (
        <span>
          {safeLine(summary.agent ?? "model")}{" "}
          {summary.model === null ? null : <b>{safeLine(summary.model)}</b>}
        </span>
      )}
      <span>
        cost <b>{summary === null ? costText(null) : spentText(summary.usage)}</b>
      </span>
      <span>
        tokens{" "}
        <b>{tokensText(summary === null ? 0 : tokensIn(summary.usage) + summary.usage.outputTokens)}</b>
      </span>
      {lease === null ? null : (
        <span>
          written by <b title={lease.writer}>{safeLine(lease.writer.split(" (", 1)[0] ?? "")}</b>
        </span>
      )}
    </div>
  );
}

function TabCount({
  count,
  isTrouble,
}: {
  readonly count: number;
  readonly isTrouble: boolean;
}): JSX.Element | null {
  if (count === 0) return null;
  return <span class={isTrouble ? "n unknown" : "n"}>{count.toLocaleString("en-US")}</span>;
}

interface TabsProps {
  readonly conversation: string;
  readonly tab: PageRow;
  readonly opened: OpenedConversation | null;
}

function Tabs({ conversation, tab, opened }: TabsProps): JSX.Element {
  const headSeq = opened?.view.headSeq ?? 0;
  const issues = useIssueCount(conversation, opened?.isWorking === false ? headSeq : null);
  const counts: { readonly [title: string]: number } = { Log: headSeq, Issues: issues };
  const Tools = tabTools.value;
  const nav = useRef<HTMLElement>(null);
  // Where not all of them have room, the one that is open is among those that are seen.
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current === null || current == null) return;
    nav.current.scrollLeft = current.offsetLeft - (nav.current.clientWidth - current.offsetWidth) / 2;
  }, [tab]);
  return (
    <nav class="tabs" aria-label="Views of this conversation" ref={nav}>
      {TABS.map((row) => (
        <a
          key={row.path}
          href={row.path.replace(":conversation", encodeURIComponent(conversation))}
          aria-current={row === tab ? "page" : undefined}
        >
          {row.title}
          <TabCount count={counts[row.title] ?? 0} isTrouble={row.title === "Issues"} />
        </a>
      ))}
      <span class="right">{Tools === null ? null : <Tools />}</span>
    </nav>
  );
}

/** The header that all views of a conversation share, and its tabs. */
export function ConversationFrame({
  conversation,
  tab,
  children,
}: {
  readonly conversation: string;
  readonly tab: PageRow;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { opened, error, reload } = useConversation(conversation, tab === TABS[0]);
  const title = nameOf(conversation, opened?.view.title ?? null);
  useKeys(tab !== TABS[0] ? [onKey("outOfTab", () => navigate(conversationAddress(conversation)))] : []);
  const isGone = error instanceof ApiError && error.code === "conversation_not_found";
  useEffect(() => {
    if (isGone) noteGone(conversation);
    if (opened === null || isGone) return;
    document.title = `${title} · Holdfast`;
    noteOpened(conversation, title);
  }, [title, opened !== null, tab, isGone]);
  // Such a tab says itself what is wrong, and where.
  const tellsIt = tab.standsDamage === true && error instanceof ApiError && error.code === "damaged";
  return (
    <>
      <header class="head">
        <div class="head-row">
          <a class="btn quiet icon only-narrow" href="/" aria-label="Back to history">
            <Icon name="left" />
          </a>
          <TitleLine conversation={conversation} title={title} />
          <CopyButton text={conversation} what="id" />
          {opened?.isWorking === true ? (
            <span class="tag ok">
              <StatusDot status="working" />
              live
            </span>
          ) : null}
          {opened === null || opened.isReplay === false ? null : (
            <ReplayMark conversation={conversation} isReplay={opened.isReplay} />
          )}
          {opened === null ? <span class="grow" /> : <Facts opened={opened} />}
          {isGone ? null : (
            <a class="btn wide" href={addressOf("/replay", { conversation })}>
              <Icon name="replay" />
              Replay
            </a>
          )}
        </div>
        {isGone ? null : <Tabs conversation={conversation} tab={tab} opened={opened} />}
      </header>
      {error === null || tellsIt ? null : <Failure error={error} {...(isGone ? {} : { retry: reload })} />}
      {error === null || tab.standsDamage === true ? children : null}
    </>
  );
}
