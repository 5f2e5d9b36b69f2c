import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { itemsOf, type Member, membersOf, objectText } from "#log/json/json-text";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { withText } from "../../data/exact-text.ts";
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
import { contextRows, type Exact, listedRows, type Sizes } from "./context-rows.ts";
import { ContextStep } from "./context-step.tsx";
import { ExactMessage } from "./exact-message.tsx";
import { FoldedAway, useFolded, useFoldedRows } from "./folded-away.tsx";

interface Sent {
  readonly sizes: Sizes;
  readonly exact: Exact;
  /** The same as it came: what is copied. */
  readonly text: string;
}

/** What changes what is sent now. */
const TELLING: ReadonlySet<string> = new Set(["turn_end", "compaction", "reset", "leaf", "hide"]);

function useContext(conversation: string, at: string | null): Loaded<Sent> {
  const loaded = useLoaded(
    async (signal): Promise<Sent> => {
      const asked = { conversation, ...(at === null ? {} : { at }) };
      const { value: exact, text } = await withText(signal, (options) => client.getContext(asked, options));
      // Of the same moment, whatever is written meanwhile.
      const sizes = await client.getContextSizes({ conversation, at: exact.leaf }, { signal });
      return { sizes, exact, text };
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
  sent: { sizes, text },
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
      <button class="btn small" type="button" onClick={() => void copyText(text)}>
        <Icon name="copy" /> Copy JSON
      </button>
    </div>
  );
}

const SETTINGS: ReadonlySet<string> = new Set(["model", "config", "skills", "state"]);

/** What is sent besides the messages, as far as the log knows it. */
function Settings({ members }: { readonly members: readonly Member[] }): JSX.Element {
  const text = objectText(members.filter(({ name }) => SETTINGS.has(name)));
  return (
    <details class="exact">
      <summary class="exact-head">Settings of this point</summary>
      <RawJson text={text} what="the settings" />
    </details>
  );
}

function Shown({ sent, conversation }: { readonly sent: Sent; readonly conversation: string }): JSX.Element {
  const { sizes, exact, text } = sent;
  const members = useMemo(() => membersOf(text), [text]);
  const messages = useMemo(
    () => itemsOf(members.findLast(({ name }) => name === "messages")?.text ?? "[]"),
    [members],
  );
  const [list, setList] = useState<WindowList | null>(null);
  const { value: by } = useFolded(conversation, sizes.compaction);
  const isOpen = query.value.get("folded") === "1";
  const folded = useFoldedRows(conversation, by, isOpen);
  const rows = contextRows(sizes, exact);
  const listed = listedRows(rows, by === null ? null : (folded ?? []));
  const chosen = query.value.get("message");
  const within = (place: number): number => Math.min(rows.length - 1, Math.max(0, Math.trunc(place) || 0));
  const place = within(Number(chosen));
  const go = (step: 1 | -1): void => {
    // Where it is by now: keys come faster than pages are drawn.
    const now = query.value.get("message");
    const to = now === null ? 0 : within(Number(now) + step);
    changeQuery({ message: String(to) });
    const at = listed.findIndex((one) => one.is === "sent" && one.row.place === to);
    list?.scrollToIndex(at, { align: "auto" });
  };
  useKeys([onKey("nextItem", () => go(1)), onKey("previousItem", () => go(-1))]);
  const fold =
    by === null
      ? null
      : {
          folded: by.folded,
          isOpen,
          address: conversationAddress(conversation, "context", { at: by.entry.parentId }),
        };
  const now = rows.find(({ kind }) => kind === "summary")?.tokens ?? 0;
  return (
    <div class="with-exact">
      <div>
        <ContextList
          rows={listed}
          total={sizes.tokens}
          selected={place}
          conversation={conversation}
          fold={fold}
          onReady={setList}
        />
        <p class="muted context-sum">
          <span class="grow">
            Sent: {countText(sizes.tokens, "token")} (estimate)
            {sizes.window === null ? "" : `  of the model’s ${sizes.window.toLocaleString("en-US")}`}
          </span>
          <Legend />
        </p>
      </div>
      <aside class={chosen === null ? "aside is-default" : "aside"} aria-label="The selected message">
        <ExactMessage messages={messages} place={place} />
        {by === null ? null : <FoldedAway conversation={conversation} by={by} now={now} />}
        <Settings members={members} />
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
        <p class="muted">Nothing. The conversation has not started, or was cleared.</p>
      ) : (
        <Shown sent={value} conversation={conversation} />
      )}
    </section>
  );
}
