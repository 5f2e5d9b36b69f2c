import type { JSX } from "preact";
import { health } from "../../../frame/store-foot.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { navigate } from "../../../router/location.ts";
import { startTour } from "../../../tour/tour-under-way.ts";
import { LoadSample } from "./load-sample.tsx";
import { NewConversation } from "./new-conversation.tsx";

/** One log below, and three sessions above it that came and went. */
function Survival(): JSX.Element {
  return (
    <svg
      class="survival"
      viewBox="0 0 480 96"
      role="img"
      aria-label="Session A hits a limit, session B crashes, session C continues: one log holds all of it"
    >
      <rect class="odd" x="8" y="34" width="140" height="10" />
      <rect class="even" x="160" y="34" width="120" height="10" />
      <rect class="odd" x="292" y="34" width="180" height="10" />
      <text x="8" y="22">
        Session A
      </text>
      <text x="160" y="22">
        Session B
      </text>
      <text x="292" y="22">
        Session C
      </text>
      <path class="end" d="m149 34 10 10m0-10-10 10M281 34l10 10m0-10-10 10" />
      <path class="log" d="M8 62h464" />
      <text x="8" y="86">
        One log: nothing is lost, and no tool runs twice
      </text>
    </svg>
  );
}

const CONNECT: readonly (readonly [string, string])[] = [
  ["Claude Code, in an editor", "holdfast acp -- npx @agentclientprotocol/claude-agent-acp"],
  ["Any agent that speaks ACP", "holdfast acp -- YOUR-AGENT"],
  ["A model, with your API key", "holdfast ui --model anthropic/claude-sonnet-5-5"],
];

function FirstVisit(): JSX.Element {
  const isSimulated = health.value?.agents.includes("simulated") === true;
  return (
    <div class="state-body first-visit">
      <h2 class="state-title" data-testid="no-conversations">
        Your agent’s conversations, kept safe
      </h2>
      <p class="muted">
        When a session hits a limit, crashes or expires, Holdfast continues the conversation.
        {isSimulated ? " Try it with a simulated agent: no API key, no network." : ""}
        {health.value?.agents.length === 0 ? " This server has no agent: you can read and import." : ""}
      </p>
      <Survival />
      <p class="row-flex wrap">
        <NewConversation />
        <button class="btn" type="button" onClick={() => void startTour()}>
          <Icon name="runs" />
          Take the 2-minute tour
        </button>
        <LoadSample />
        <a class="btn" href="/import">
          <Icon name="in" />
          Import a file
        </a>
      </p>
      <p class="muted">…or drop an export file anywhere on this page.</p>
      <h3 class="caption">Connect your agent</h3>
      <dl class="kv">
        {CONNECT.map(([what, command]) => (
          <>
            <dt>{what}</dt>
            <dd>
              <CopyButton text={command} what="command" />
            </dd>
          </>
        ))}
      </dl>
    </div>
  );
}

/** Nothing is listed: by a filter, or because nothing is there yet. */
export function EmptyHistory({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (!isFiltered) return <FirstVisit />;
  return (
    <div class="state-body">
      <p class="state-title" data-testid="no-match">
        No conversations match
      </p>
      <p>
        <button class="btn" type="button" onClick={() => navigate("/")}>
          Clear filters
        </button>
      </p>
    </div>
  );
}
