import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { health } from "../../../frame/store-foot.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { navigate } from "../../../router/location.ts";
import { startTour } from "../../../tour/tour-under-way.ts";
import { LoadSample } from "./load-sample.tsx";
import { NewConversation } from "./new-conversation.tsx";

function whoAnswers(agents: readonly string[] | null): string {
  if (agents === null) return "";
  if (agents.length === 0)
    return "This server has no agent: conversations can be looked at and imported here, and not gone on with.";
  if (agents.includes("simulated"))
    return "Begin one with the simulated agent, which needs no key and no network, or look at one that has been through a lot already.";
  return `Begin one with ${agents.map(safeLine).join(" or ")}, or look at one that has been through a lot already.`;
}

/** Nothing is there yet: what makes something. */
export function EmptyHistory({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered)
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
  return (
    <div class="state-body">
      <p class="state-title" data-testid="no-conversations">
        No conversations yet
      </p>
      <p class="muted">
        Holdfast keeps conversations with AI agents in logs of its own, so that they survive limits, crashes
        and lost sessions. {whoAnswers(health.value?.agents ?? null)}
      </p>
      <p class="row-flex wrap">
        <NewConversation />
        <LoadSample />
        <a class="btn" href="/import">
          <Icon name="in" />
          Import a bundle
        </a>
        <button class="btn" type="button" onClick={() => void startTour()}>
          <Icon name="runs" />
          Take the tour of two minutes
        </button>
      </p>
      <p class="muted">Or drop a bundle anywhere on this page.</p>
      <p class="muted">
        From an editor: <CopyButton text="holdfast acp -- YOUR-AGENT" what="command" />
      </p>
    </div>
  );
}
