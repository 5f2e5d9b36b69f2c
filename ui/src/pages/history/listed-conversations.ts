import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AnswerOrder } from "../../data/answer-order.ts";
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

type Page = Pick<Pages, "listed" | "next">;

/** One way to ask for them: by other filters it is another one, and what comes for this one then counts no more. */
class Asking {
  readonly #stop = new AbortController();
  readonly #order = new AnswerOrder();
  readonly #filters: HistoryFilters;

  constructor(filters: HistoryFilters) {
    this.#filters = filters;
  }

  stop(): void {
    this.#stop.abort();
  }

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async page(cursor: string | null): Promise<Page> {
    const wanted = listQuery(this.#filters, Date.now());
    if (wanted === null) return { listed: [], next: null };
    const { conversations, next } = await client.listConversations(
      { ...wanted, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      { signal: this.#stop.signal },
    );
    seenValues.value = seenWith(seenValues.value, conversations);
    return { listed: conversations, next };
  }

  /** Null: a newer one has come. */
  async first(): Promise<Page | null> {
    const isTaken = this.#order.ask();
    const page = await this.page(null);
    return isTaken() ? page : null;
  }
}

/** Conversations by pages, kept fresh: what the latest of them do is heard, and new ones are asked for. */
export function useListed(filters: HistoryFilters): ListedConversations {
  const [pages, setPages] = useState(NONE);
  const by = JSON.stringify(filters);
  const asking = useMemo(() => new Asking(filters), [by]);
  const load = useCallback(async () => {
    try {
      const page = await asking.first();
      if (page === null || asking.isStopped) return;
      const [isLoading, error] = [false, null];
      setPages((was) =>
        was.isLoading || page.next === null
          ? { ...page, isLoading, error }
          : { listed: freshened(was.listed, page.listed), next: was.next, isLoading, error },
      );
    } catch (error) {
      if (!asking.isStopped) setPages((was) => ({ ...was, isLoading: false, error }));
    }
  }, [asking]);
  useEffect(() => {
    setPages((was) => ({ ...was, isLoading: true }));
    void load();
    return () => asking.stop();
  }, [asking]);
  useFreshness(pages.listed, load);
  const isAsking = useRef<Asking | null>(null);
  const more = useCallback(async () => {
    if (pages.next === null || isAsking.current === asking) return;
    isAsking.current = asking;
    try {
      const { listed, next } = await asking.page(pages.next);
      if (!asking.isStopped) setPages((was) => ({ ...was, listed: freshened(listed, was.listed), next }));
    } catch (error) {
      if (!asking.isStopped) setPages((was) => ({ ...was, error }));
    } finally {
      if (isAsking.current === asking) isAsking.current = null;
    }
  }, [asking, pages.next]);
  const { listed, isLoading, error } = pages;
  return {
    listed,
    isLoading,
    isWhole: pages.next === null,
    error,
    more: () => void more(),
    reload: () => void load(),
  };
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
