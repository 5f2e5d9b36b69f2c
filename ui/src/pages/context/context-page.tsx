import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { safeLine } from "#transfer/shown/shown-text";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { copyText } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { RawJson } from "../../parts/raw-json.tsx";
import type { WindowList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, query } from "../../router/location.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import type { PageProps } from "../pages.ts";
import { ContextList, Legend } from "./context-list.tsx";
import { contextRows, type Exact, type Sizes } from "./context-rows.ts";
import { ContextStep } from "./context-step.tsx";
import { ExactMessage } from "./exact-message.tsx";
import { FoldedAway, useFolded } from "./folded-away.tsx";

interface Sent {
  readonly sizes: Sizes;
  readonly exact: Exact;
}

/** What changes what is sent now. */
const TELLING: ReadonlySet<string> = new Set(["turn_end", "compaction", "reset", "leaf", "hide"]);

function useContext(conversation: string, at: string | null): Loaded<Sent> {
  const loaded = useLoaded(
    async (signal): Promise<Sent> => {
      const exact = await client.getContext({ conversation, ...(at === null ? {} : { at }) }, { signal });
      // Of the same moment, whatever is written meanwhile.
      const sizes = await client.getContextSizes({ conversation, at: exact.leaf }, { signal });
      return { sizes, exact };
    },
    [conversation, at],
  );
  const after = openedConversation(conversation)?.view.headSeq ?? null;
  useEffect(() => {
    if (after === null || at !== null) return undefined;
    return live.watch(conversation, after, ({ type }) => TELLING.has(type) && loaded.reload());
  }, [conversation, at, after !== null]);
  return loaded;
}

function Head({
  sent: { sizes, exact },
  isNow,
  conversation,
}: {
  readonly sent: Sent;
  readonly isNow: boolean;
  readonly conversation: string;
}): JSX.Element {
  return (
    <div class="block-head">
      <h2>Context</h2>
      <ContextStep conversation={conversation} leaf={sizes.leaf} isNow={isNow} />
      <span class="muted">
        exactly what {sizes.model === null ? "a model" : safeLine(sizes.model)} would be sent{" "}
        {isNow ? "now" : "here"}, besides instructions and tools
      </span>
      <span class="grow" />
      <button class="btn small" type="button" onClick={() => void copyText(JSON.stringify(exact, null, 2))}>
        <Icon name="copy" /> Copy JSON
      </button>
    </div>
  );
}

/** What is sent besides the messages, as far as the log knows it. */
function Settings({ exact }: { readonly exact: Exact }): JSX.Element {
  const { model, config, skills, state } = exact;
  return (
    <details class="exact">
      <summary class="exact-head">Settings of this point</summary>
      <RawJson value={{ model, config, skills, state }} what="the settings" />
    </details>
  );
}

function Shown({ sent, conversation }: { readonly sent: Sent; readonly conversation: string }): JSX.Element {
  const { sizes, exact } = sent;
  const [list, setList] = useState<WindowList | null>(null);
  const { value: by } = useFolded(conversation, sizes.compaction);
  const rows = contextRows(sizes, exact);
  const chosen = query.value.get("message");
  const within = (place: number): number => Math.min(rows.length - 1, Math.max(0, Math.trunc(place) || 0));
  const place = within(Number(chosen));
  const go = (step: 1 | -1): void => {
    // Where it is by now: keys come faster than pages are drawn.
    const now = query.value.get("message");
    const to = now === null ? 0 : within(Number(now) + step);
    changeQuery({ message: String(to) });
    list?.scrollToIndex(to, { align: "auto" });
  };
  useKeys([onKey("nextItem", () => go(1)), onKey("previousItem", () => go(-1))]);
  const fold =
    by === null
      ? null
      : {
          folded: by.folded,
          address: conversationAddress(conversation, "context", { at: by.entry.parentId }),
        };
  const now = rows.find(({ kind }) => kind === "summary")?.tokens ?? 0;
  return (
    <div class="with-exact">
      <div>
        <ContextList
          rows={rows}
          total={sizes.tokens}
          selected={place}
          conversation={conversation}
          fold={fold}
          onReady={setList}
        />
        <p class="muted context-sum">
          <span class="grow">
            Sent: {countText(sizes.tokens, "token")} by estimate
            {sizes.window === null ? "" : ` of ${sizes.window.toLocaleString("en-US")} that the model takes`}
          </span>
          <Legend />
        </p>
      </div>
      <aside class={chosen === null ? "aside is-default" : "aside"} aria-label="The selected message">
        <ExactMessage exact={exact} place={place} />
        {by === null ? null : <FoldedAway conversation={conversation} by={by} now={now} />}
        <Settings exact={exact} />
      </aside>
    </div>
  );
}

/** Exactly what would be sent here, what each message takes of it, and what a summary stands for. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const at = query.value.get("at");
  const { value, error, reload } = useContext(conversation, at);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  return (
    <section class="block context-page" aria-label="Context">
      <Head sent={value} isNow={at === null} conversation={conversation} />
      {value.exact.messages.length === 0 ? (
        <p class="muted">Nothing: the conversation has not begun, or was begun anew.</p>
      ) : (
        <Shown sent={value} conversation={conversation} />
      )}
    </section>
  );
}
