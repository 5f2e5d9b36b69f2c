import { nameOf } from "../../text/conversation-name.ts";
import type { JSX } from "preact";
import { useIssueCount } from "../../data/issue-counts-shown.ts";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { costText, spentText } from "../../parts/numbers.ts";
import { Ago } from "../../parts/shown-time.tsx";
import { StatusDot } from "../../parts/marks/status-dot.tsx";
import { Strip } from "../../parts/marks/strip.tsx";
import { safeLine } from "#transfer/views/safe-text";
import { conversationAddress } from "../../router/addresses.ts";
import { folderName, type Listed, statusOf, stripOf } from "./history-rows.ts";

interface BadgeProps {
  readonly icon: IconName;
  readonly count: number;
  readonly says: string;
  readonly tone?: "carry" | "unknown" | "bad";
}

function Badge({ icon, count, says, tone }: BadgeProps): JSX.Element | null {
  if (count === 0) return null;
  return (
    <span class={tone === undefined ? "badge" : `badge ${tone}`} title={`${count} ${says}`}>
      <Icon name={icon} />
      {count}
      <span class="sr"> {says}</span>
    </span>
  );
}

function Where({
  listed,
  hasFolder,
}: {
  readonly listed: Listed;
  readonly hasFolder: boolean;
}): JSX.Element | null {
  const { origin, cwd } = listed;
  if (origin !== null)
    return (
      <span class="where cut">
        <Icon name="fork" /> {origin.conversation}@{origin.entry}
      </span>
    );
  const folder = hasFolder ? folderName(cwd) : null;
  return folder === null ? null : <span class="where cut">{safeLine(folder)}</span>;
}

interface RowProps {
  readonly listed: Listed;
  readonly isSelected: boolean;
  /** Its folder is shown; not below the folder itself. */
  readonly hasFolder: boolean;
  readonly select: () => void;
}

export function ConversationRow({ listed, isSelected, select, hasFolder }: RowProps): JSX.Element {
  const { conversation, title, summary, damage, state } = listed;
  // A turn that runs is no issue.
  const isCounted = damage === null && state !== "working" && state !== "waiting";
  const issues = useIssueCount(conversation, isCounted ? listed.headSeq : null);
  const tags = (summary?.metadata.tags ?? []).slice(0, 3);
  return (
    <div class={isSelected ? "list-row item is-selected" : "list-row item"}>
      <span class="c-dot" role="cell">
        <StatusDot status={statusOf(listed)} />
      </span>
      <span class="c-name name" role="cell">
        <a
          class="title cut"
          href={conversationAddress(conversation)}
          data-conversation={conversation}
          aria-current={isSelected ? "true" : undefined}
          onFocus={select}
          onMouseEnter={select}
        >
          {nameOf(conversation, title)}
        </a>
        {tags.map((tag) => (
          <span key={tag} class="tag">
            {safeLine(tag)}
          </span>
        ))}
        <Where listed={listed} hasFolder={hasFolder} />
      </span>
      <span class="c-strip" role="cell">
        <Strip data={stripOf(listed)} />
      </span>
      <span class="c-badges badges" role="cell">
        <Badge
          icon="fork"
          count={(summary?.branches ?? 1) > 1 ? (summary?.branches ?? 0) : 0}
          says="branches"
        />
        <Badge icon="roll" count={summary?.rollovers ?? 0} says="rollovers" tone="carry" />
        <Badge icon="unknown" count={issues} says={issues === 1 ? "issue" : "issues"} tone="unknown" />
        <Badge icon="warn" count={damage === null ? 0 : 1} says="damaged" tone="bad" />
      </span>
      <span class="c-turns meta-num num" role="cell">
        {listed.headSeq.toLocaleString("en-US")}
      </span>
      <span class="c-cost meta-num num" role="cell">
        {summary === null ? costText(null) : spentText(summary.usage)}
      </span>
      <span class="c-time meta-num num" role="cell">
        <Ago time={listed.updatedAt} />
      </span>
    </div>
  );
}
