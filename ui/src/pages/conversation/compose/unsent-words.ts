import { live } from "../../../data/live-stream.ts";
import { warn } from "../../../frame/said.tsx";
import { takeBack } from "../../../data/drafts.ts";

/** Words whose turn ended because its agent is parked, before anybody was asked, are on no branch: they wait in the composer again. */
export function keepUnsent(
  conversation: string,
  words: string,
  { turn, after }: { readonly turn: string; readonly after: number },
): void {
  let isAsked = false;
  const stop = live.watch(conversation, after, (entry) => {
    if (entry.type === "attempt" && entry.turn === turn) isAsked = true;
    if (entry.type !== "turn_end" || entry.turn !== turn) return;
    stop();
    if (isAsked || entry.parked === undefined) return;
    takeBack(conversation, words);
    warn(
      "Not sent: the rate limit is not over yet. Your text is still here. Continue resumes the previous prompt.",
    );
  });
}
