import type { Conversation } from "#conversation/conversation";
import { eventText } from "#edges/http/events/event-bytes";
import { STOP } from "#edges/http/events/tails";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isRunning, readReplay, replayMoment } from "#operations/views/replay-log";

const LOOK_MS = 5_000; // how often it is looked whether anybody still runs it

/** A replay as events, each under its seq, until it ends or whoever ran it is gone. */
export async function* replayTexts(
  {
    log,
    signal,
    stopped,
  }: {
    readonly log: Conversation;
    readonly signal: AbortSignal;
    readonly stopped: AbortSignal;
  },
  after: number,
): AsyncGenerator<string> {
  let seen = after;
  const textOf = (entry: Entry): string | null => {
    seen = entry.seq;
    const moment = replayMoment(entry);
    return moment === null || "end" in moment
      ? null
      : eventText("event", JSON.stringify(moment.event), String(seen));
  };
  // What is written while somebody has it is waited for; then the rest of it is there.
  while (await isRunning(log)) {
    const both = AbortSignal.any([signal, stopped, AbortSignal.timeout(LOOK_MS)]);
    for await (const entry of log.tail({ after: seen, signal: both })) {
      const text = textOf(entry);
      if (text !== null) yield text;
      else if (isEnd(entry)) break;
    }
    if (stopped.aborted) return yield STOP;
    if (signal.aborted) return;
    if (((await readReplay(log))?.end ?? null) !== null) break;
  }
  for await (const stored of log.log({ after: seen })) {
    const text = textOf(decodeEntry(stored));
    if (text !== null) yield text;
  }
  const { status, message } = (await readReplay(log))?.end ?? { status: "lost", message: "" };
  yield eventText("end", JSON.stringify({ status, message }));
}

function isEnd(entry: Entry): boolean {
  const moment = replayMoment(entry);
  return moment !== null && "end" in moment;
}
