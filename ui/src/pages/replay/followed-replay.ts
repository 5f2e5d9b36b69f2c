import { useEffect, useState } from "preact/hooks";
import type { ReplayDetails, ReplayEventView } from "#edges/http/client/views";
import { client } from "../../data/api-client.ts";
import { type ReplayStory, storyOf } from "./replay-story.ts";

/** A replay as it stands, and all that was told of it. */
export interface FollowedReplay {
  readonly details: ReplayDetails | null;
  readonly story: ReplayStory;
  readonly error: unknown;
  readonly reload: () => void;
}

const GATHER_MS = 50; // a long one that is over tells thousands of events at once
const NOTHING = storyOf([]);

/** Follows the stream; shows what came of it, now and then, and never less than was there. */
async function follow(
  replay: string,
  signal: AbortSignal,
  show: (told: readonly ReplayEventView[]) => void,
): Promise<void> {
  const told: ReplayEventView[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  for await (const one of client.replayEvents({ replay }, { signal })) {
    told.push(one);
    timer ??= setTimeout(() => ((timer = undefined), show([...told])), GATHER_MS);
  }
  clearTimeout(timer);
  if (!signal.aborted) show(told);
}

/** Told from its beginning, also after a reload; a tab that nobody looks at leaves its connection to the others. */
export function useReplay(replay: string): FollowedReplay {
  const [details, setDetails] = useState<ReplayDetails | null>(null);
  const [told, setTold] = useState<readonly ReplayEventView[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    setDetails(null);
    setTold([]);
  }, [replay]);
  useEffect(() => {
    let stop = new AbortController();
    const run = async (): Promise<void> => {
      const { signal } = stop;
      try {
        setError(null);
        const before = await client.getReplay({ replay }, { signal });
        setDetails(before);
        await follow(replay, signal, (next) => setTold((was) => (next.length >= was.length ? next : was)));
        if (!signal.aborted && before.status === "running")
          setDetails(await client.getReplay({ replay }, { signal }));
      } catch (failure) {
        if (!signal.aborted) setError(failure);
      }
    };
    const look = (): void => {
      stop.abort();
      if (document.visibilityState === "hidden") return;
      stop = new AbortController();
      void run();
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      stop.abort();
    };
  }, [replay, round]);
  const story = told.length === 0 ? NOTHING : storyOf(told);
  return { details, story, error, reload: () => setRound((was) => was + 1) };
}
