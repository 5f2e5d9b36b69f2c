import { idForKey } from "#conversation/id-for-key";
import type { EntryBody } from "#log/entry";
import type { ReadyItem, ReadyPiece } from "#transfer/migrate/ready-pieces";
import { withMarks } from "./message-marks.ts";

/** The entries of a piece: its run begins before its messages, its turn after the prompt, and both end after the rest. */
export function bodiesOf({ key, time, items, run, turn, end }: ReadyPiece): readonly EntryBody[] {
  const said = items.flatMap(messageBodies);
  const answer = said.findIndex(({ message }) => message.role !== "user");
  const asked = said.slice(0, answer === -1 ? said.length : answer);
  const last = turn === undefined ? undefined : asked.pop();
  const prompt = last === undefined ? undefined : { ...last, id: last.id ?? idForKey("prompt", key) };
  const bodies: readonly EntryBody[] = [
    ...(run === undefined ? [] : [{ type: "run_start" as const, ...run }]),
    ...asked,
    ...(prompt === undefined ? [] : [prompt]),
    ...(turn === undefined
      ? []
      : [{ type: "turn_start" as const, ...turn, ...(prompt === undefined ? {} : { prompt: prompt.id }) }]),
    ...(answer === -1 ? [] : said.slice(answer)),
    ...endBodies(end),
  ];
  return bodies.map((body) => (time === null ? body : Object.assign(body, { time })));
}

type MessageBody = Extract<EntryBody, { type: "message" }>;

/** Where one message of the source is several here, the first has its id. */
function messageBodies({ messages, marks, entry }: ReadyItem): readonly MessageBody[] {
  return messages.map((message, at) => ({
    type: "message",
    ...(at === 0 && entry !== null ? { id: entry } : {}),
    message: withMarks(message, marks, at === 0 ? entry : (marks.id ?? null)),
  }));
}

function endBodies(end: ReadyPiece["end"]): readonly EntryBody[] {
  if (end === undefined) return [];
  const { run, turn, status } = end;
  const over: EntryBody = { type: "run_end", run, status };
  if (turn === undefined) return [over];
  return [{ type: "turn_end", turn, outcome: status === "cancelled" ? "interrupted" : status }, over];
}
