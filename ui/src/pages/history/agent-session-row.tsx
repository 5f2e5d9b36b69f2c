import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { say } from "../../frame/said.tsx";
import { health } from "../../frame/store-foot.tsx";
import { StatusDot } from "../../parts/marks/status-dot.tsx";
import { Ago } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { navigate } from "../../router/location.ts";
import { type AgentSession, folderName } from "./history-rows.ts";

/** A session that no conversation has held yet; a click makes one of it, and the agent's own stays as it is. */
export function AgentSessionRow({ of }: { readonly of: AgentSession }): JSX.Element {
  const { agent, session, title, cwd, updatedAt } = of;
  const [isBusy, setBusy] = useState(false);
  const bring = async (): Promise<void> => {
    setBusy(true);
    try {
      const { conversation } = await client.adoptAgentSession({ agent, session });
      navigate(conversationAddress(conversation));
    } catch (error) {
      say(error instanceof Error ? error.message : "The session could not be imported.");
      setBusy(false);
    }
  };
  const name = title === null || title === "" ? session : safeLine(title);
  return (
    <div class="list-row item agent-only">
      <span class="c-dot" role="cell">
        <StatusDot status="agent_only" />
      </span>
      <span class="c-name name" role="cell">
        <span class="cut" title={cwd === null ? undefined : safeLine(cwd)}>
          {name}
        </span>
        <span class="tag">{safeLine(agent)}</span>
        <span class="where cut">{safeLine(folderName(cwd) ?? "")}</span>
      </span>
      <span class="c-strip faint cut" role="cell">
        not imported yet
      </span>
      <span class="c-badges" role="cell">
        <button
          class="btn small"
          type="button"
          data-conversation={`${agent}:${session}`}
          disabled={isBusy || health.value?.readOnly === true}
          aria-label={`Import ${name}`}
          onClick={() => void bring()}
        >
          {isBusy ? "Importing" : "Import"}
        </button>
      </span>
      <span class="c-turns" role="cell" />
      <span class="c-cost" role="cell" />
      <span class="c-time meta-num num" role="cell">
        <Ago time={updatedAt} />
      </span>
    </div>
  );
}
