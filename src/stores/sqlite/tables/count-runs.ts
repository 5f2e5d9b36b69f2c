import { decodeEntry } from "#log/codec";
import type { ConversationId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import type { RunPage, RunsRequest } from "#store/requests";
import { pageOfRuns } from "#store/run-pages";
import { foldLog } from "./count-logs.ts";
import { summaryText } from "./rows.ts";
import { writeRuns } from "./run-rows.ts";
import type { Sql } from "./sql.ts";
import { typeNumber } from "#log/entry-types";

const HAS_RUNS = `EXISTS (SELECT 1 FROM entries e WHERE e.conversation = c.row AND e.kind = ${typeNumber("run_start")})`;
const LOGS = `SELECT row, id, space, head_seq, segments FROM conversations c WHERE listed = 1 AND ${HAS_RUNS} ORDER BY row`;
const LOGS_OF_SPACE = LOGS.replace("listed = 1", "listed = 1 AND space = ?");

type LogColumns = readonly [
  row: number,
  id: ConversationId,
  space: string,
  headSeq: number,
  segments: number,
];

/** Counts the runs of a file from before appends kept them. A log that cannot be read whole stays as it is. */
export function countRuns(sql: Sql): void {
  for (const [row, , space, headSeq, segments] of sql.all<LogColumns>(LOGS)) {
    const folder = folded(sql, row, headSeq);
    if (folder === null) continue;
    const kept = folder.kept();
    const started = kept.map(({ last }) => last);
    const finished = kept.flatMap(({ last, over }) => (over ? [last] : []));
    writeRuns(sql, { row, space }, { started, finished, reopened: [] });
    const summary = summaryText(folder.summary(segments));
    sql.run("UPDATE conversations SET summary = ? WHERE row = ?", summary, row);
  }
}

/** The same answer from a file that is only read, and is of a version that had no rows of runs. */
export function foldedRunPage(sql: Sql, space: string, request: RunsRequest): RunPage {
  const all = sql.all<LogColumns>(LOGS_OF_SPACE, space).flatMap(([row, id, , headSeq]): readonly Run[] => {
    return folded(sql, row, headSeq)?.rows(id, headSeq) ?? [];
  });
  return pageOfRuns(all, request);
}

function folded(sql: Sql, row: number, headSeq: number): RunFolder | null {
  const folder = new RunFolder();
  return foldLog(sql, row, headSeq, (entry) => folder.add(decodeEntry(entry))) ? folder : null;
}
