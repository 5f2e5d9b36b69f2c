import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { useReloadOn } from "../conversation/reload-on.ts";
import type { PageProps } from "../pages.ts";

type Issue = Api["listIssues"]["response"]["issues"][number];

const ROW_PX = 48;

/** Its icon, and what it is called. */
const KINDS: Readonly<Record<Issue["kind"], readonly [IconName, string]>> = {
  orphan_call: ["unknown", "Call without a result"],
  orphan_result: ["warn", "Result without a call"],
  duplicate_result: ["warn", "Second result of a call"],
  boundary_missing: ["fold", "Compaction refers to a missing entry"],
  open_turn: ["pause", "Unfinished turn"],
  open_run: ["pause", "Unfinished run"],
  gap: ["warn", "Gap"],
  missing_blob: ["file", "Missing blob"],
  damage: ["warn", "Damage"],
};

function useIssues(conversation: string): Loaded<readonly Issue[]> {
  const loaded = useLoaded(
    async (signal) => (await client.listIssues({ conversation }, { signal })).issues,
    [conversation],
  );
  useReloadOn(loaded, conversation, ["turn_end"]);
  return loaded;
}

function IssueRow({
  issue: { kind, entry, message },
  conversation,
}: {
  readonly issue: Issue;
  readonly conversation: string;
}): JSX.Element {
  const [icon, name] = KINDS[kind];
  const words = (
    <>
      <Icon name={icon} />
      <span class="issue-words">
        <b>{name}</b>
        <span class="muted">{safeLine(message)}</span>
      </span>
    </>
  );
  if (entry === null) return <div class="issue">{words}</div>;
  return (
    <a class="issue" href={conversationAddress(conversation, "", { at: entry })}>
      {words}
      <span class="issue-to">
        {safeLine(entry)} <Icon name="right" />
      </span>
    </a>
  );
}

/** What a person should look at; each leads to its entry. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { value, error, reload } = useIssues(conversation);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  return (
    <section class="block" aria-label="Issues">
      <div class="block-head">
        <h2>Issues</h2>
        <span class="muted">{value.length === 0 ? "" : countText(value.length, "issue")}</span>
      </div>
      {value.length === 0 ? (
        <p class="row-flex" data-testid="no-issues">
          <Icon name="check" /> No issues: every call has a result and every turn has an end.
        </p>
      ) : (
        <VirtualList
          count={value.length}
          role="list"
          rowRole="listitem"
          label="Issues"
          estimate={() => ROW_PX}
          keyOf={(index) => index}
          render={(index) => {
            const issue = value[index];
            return issue === undefined ? <div /> : <IssueRow issue={issue} conversation={conversation} />;
          }}
        />
      )}
    </section>
  );
}
