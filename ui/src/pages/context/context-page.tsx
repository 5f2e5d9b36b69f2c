import type { JSX } from "preact";
import { safeLine } from "#transfer/shown/shown-text";
import type { Api } from "#edges/http/client/index";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { changeQuery, query } from "../../router/location.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import type { PageProps } from "../pages.ts";
import { ContextTable } from "./context-table.tsx";
import { ExactMessage } from "./exact-message.tsx";
import { FoldedAway } from "./folded-away.tsx";

export type Sizes = Api["getContextSizes"]["response"];
export type Exact = Api["getContext"]["response"];

function Head({ sizes, at }: { readonly sizes: Sizes; readonly at: string | null }): JSX.Element {
  return (
    <div class="block-head">
      <h2>Context</h2>
      <span class="stepper">
        <span class="at">{at === null ? "now" : `at ${sizes.leaf}`}</span>
      </span>
      {at === null ? null : (
        <button class="btn small" type="button" onClick={() => changeQuery({ at: null })}>
          Now
        </button>
      )}
      <span class="muted">
        exactly what {sizes.model === null ? "a model" : safeLine(sizes.model)}{" "}
        {at === null ? "would be sent" : "was sent"}, besides instructions and tools
      </span>
      <span class="grow" />
      <span class="faint">tokens by estimate</span>
    </div>
  );
}

/** Exactly what would be sent here, what each message takes of it, and what a summary stands for. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const at = query.value.get("at");
  const headSeq = openedConversation(conversation)?.view.headSeq ?? 0;
  const asked = { conversation, ...(at === null ? {} : { at }) };
  const { value, error, reload } = useLoaded(
    async (signal) => {
      const [sizes, exact] = await Promise.all([
        client.getContextSizes(asked, { signal }),
        client.getContext(asked, { signal }),
      ]);
      return { sizes, exact };
    },
    [conversation, at, headSeq],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  const { sizes, exact } = value;
  const place = Math.min(
    sizes.messages.length - 1,
    Math.max(0, Number(query.value.get("message") ?? 0) || 0),
  );
  return (
    <div class="block">
      <Head sizes={sizes} at={at} />
      {sizes.messages.length === 0 ? (
        <p class="muted">Nothing: the conversation has not begun, or was begun anew.</p>
      ) : (
        <div class="with-exact">
          <div>
            <ContextTable sizes={sizes} exact={exact} selected={place} conversation={conversation} />
            <p class="muted context-sum">
              Sent: {countText(sizes.tokens, "token")}
              {sizes.window === null
                ? ""
                : ` of ${sizes.window.toLocaleString("en-US")} that the model takes`}
            </p>
          </div>
          <aside class="aside" aria-label="The selected message">
            <ExactMessage exact={exact} place={place} />
            {sizes.compaction === null ? null : (
              <FoldedAway conversation={conversation} compaction={sizes.compaction} sizes={sizes} />
            )}
          </aside>
        </div>
      )}
    </div>
  );
}
