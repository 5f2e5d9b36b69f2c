import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";
import { type HistoryFilters, listQuery } from "./filters/history-filters.ts";
import { seenValues, seenWith } from "./filters/seen-values.ts";
import type { Listed } from "./history-rows.ts";

const PAGE = 100;
const WATCHED = 40; // the latest; the others are asked for when they come to the top
const FRESH_MS = 5_000;

export interface ListedConversations {
  readonly listed: readonly Listed[];
  readonly isLoading: boolean;
  readonly isWhole: boolean;
  readonly error: unknown;
  readonly more: () => void;
  readonly reload: () => void;
}

interface Pages {
  readonly listed: readonly Listed[];
  readonly next: string | null;
  readonly isLoading: boolean;
  readonly error: unknown;
}

const NONE: Pages = { listed: [], next: null, isLoading: true, error: null };

/** The first page again, with those behind it that it does not hold. */
function freshened(old: readonly Listed[], first: readonly Listed[]): readonly Listed[] {
  const known = new Set(first.map(({ conversation }) => conversation));
  return [...first, ...old.filter(({ conversation }) => !known.has(conversation))];
}

/** Conversations by pages, kept fresh: what the latest of them do is heard, and new ones are asked for. */
export function useListed(filters: HistoryFilters): ListedConversations {
  const [pages, setPages] = useState(NONE);
  const by = JSON.stringify(filters);
  const ask = useCallback(
    async (cursor: string | null, signal?: AbortSignal) => {
      const wanted = listQuery(filters, Date.now());
      if (wanted === null) return { conversations: [], next: null };
      const page = await client.listConversations(
        { ...wanted, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
        signal === undefined ? {} : { signal },
      );
      seenValues.value = seenWith(seenValues.value, page.conversations);
      return page;
    },
    [by],
  );
  const load = useCallback(
    async (signal?: AbortSignal) => {
      try {
        const { conversations, next } = await ask(null, signal);
        setPages((was) => ({
          listed: was.isLoading ? conversations : freshened(was.listed, conversations),
          next: was.isLoading ? next : was.next,
          isLoading: false,
          error: null,
        }));
      } catch (error) {
        if (signal?.aborted !== true) setPages((was) => ({ ...was, isLoading: false, error }));
      }
    },
    [ask],
  );
  useEffect(() => {
    const stop = new AbortController();
    setPages((was) => ({ ...was, isLoading: true }));
    void load(stop.signal);
    return () => stop.abort();
  }, [load]);
  useFreshness(pages.listed, load);
  const isAsking = useRef(false);
  const more = useCallback(() => {
    if (pages.next === null || isAsking.current) return;
    isAsking.current = true;
    ask(pages.next)
      .then(({ conversations, next }) =>
        setPages((was) => ({ ...was, listed: freshened(conversations, was.listed), next })),
      )
      .catch((error: unknown) => setPages((was) => ({ ...was, error })))
      .finally(() => (isAsking.current = false));
  }, [ask, pages.next]);
  const { listed, isLoading, error } = pages;
  return { listed, isLoading, isWhole: pages.next === null, error, more, reload: () => void load() };
}

function useFreshness(listed: readonly Listed[], load: () => Promise<void>): void {
  const watched = listed.slice(0, WATCHED);
  const names = watched.map(({ conversation }) => conversation).join(" ");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void load();
      }, 250);
    };
    const stops = watched.map(({ conversation, headSeq }) =>
      live.watch(conversation, headSeq, ({ type }) => type !== "update" && soon()),
    );
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [names, load]);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), FRESH_MS);
    return () => clearInterval(timer);
  }, [load]);
}
