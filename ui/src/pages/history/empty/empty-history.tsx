import type { JSX } from "preact";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { navigate } from "../../../router/location.ts";
import { LoadSample } from "./load-sample.tsx";
import { NewConversation } from "./new-conversation.tsx";

/** Nothing is there yet: what makes something. */
export function EmptyHistory({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered)
    return (
      <div class="state-body">
        <p class="state-title">No conversations match</p>
        <p>
          <button class="btn" type="button" onClick={() => navigate("/")}>
            Clear filters
          </button>
        </p>
      </div>
    );
  return (
    <div class="state-body">
      <p class="state-title">No conversations yet</p>
      <p class="muted">
        Begin one here, connect an editor or an agent, or look at one that has been through a lot already.
      </p>
      <p class="row-flex wrap">
        <NewConversation />
        <LoadSample />
        <a class="btn" href="/import">
          <Icon name="in" />
          Import a bundle
        </a>
      </p>
      <p class="muted">Or drop a bundle anywhere on this page.</p>
      <p class="muted">
        From an editor: <CopyButton text="holdfast acp -- YOUR-AGENT" what="command" />
      </p>
    </div>
  );
}
