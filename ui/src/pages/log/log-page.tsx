import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Api } from "#edges/http/client/index";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Clock } from "../../parts/shown-time.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { changeQuery, query } from "../../router/location.ts";
import type { PageProps } from "../pages.ts";
import { RecordDetail } from "./record-detail.tsx";

type LogRecord = Api["listRecords"]["response"]["records"][number];

const PAGE = 200;

/** Every entry has its own place: the seq. What is on the screen is read. */
function useRecords(conversation: string): {
  readonly records: ReadonlyMap<number, LogRecord>;
  readonly headSeq: number | null;
  readonly error: unknown;
  readonly ensure: (first: number, last: number) => void;
} {
  const [records, setRecords] = useState<ReadonlyMap<number, LogRecord>>(new Map());
  const [headSeq, setHead] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [asked] = useState(() => new Set<number>());
  const read = async (after: number): Promise<void> => {
    if (asked.has(after)) return;
    asked.add(after);
    try {
      const page = await client.listRecords({ conversation, after, limit: PAGE });
      setRecords((was) => new Map([...was, ...page.records.map((one) => [one.seq, one] as const)]));
      setHead((was) => Math.max(was ?? 0, page.headSeq));
    } catch (failure) {
      asked.delete(after);
      setError(failure);
    }
  };
  useEffect(() => {
    setRecords(new Map());
    setHead(null);
    asked.clear();
    void read(0);
  }, [conversation]);
  const isLoaded = headSeq !== null;
  useEffect(() => {
    if (headSeq === null) return undefined;
    return live.watch(conversation, headSeq, ({ seq }) => {
      asked.delete(Math.floor((seq - 1) / PAGE) * PAGE);
      setHead((was) => Math.max(was ?? 0, seq));
    });
  }, [conversation, isLoaded]);
  const ensure = (first: number, last: number): void => {
    for (let after = Math.floor(first / PAGE) * PAGE; after <= last; after += PAGE) void read(after);
  };
  return { records, headSeq, error, ensure };
}

function Row({ record }: { readonly record: LogRecord | undefined }): JSX.Element {
  if (record === undefined) return <div class="log-row" />;
  const { seq, id, type, time, bytes, digest, link } = record;
  return (
    <div class={link === null ? "log-row" : "log-row ends-batch"}>
      <span role="cell" class="num faint mono">
        {seq}
      </span>
      <span role="cell">
        <button class="link mono" type="button" onClick={() => changeQuery({ at: id })}>
          {type}
        </button>
      </span>
      <span role="cell" class="mono faint cut">
        {id}
      </span>
      <span role="cell" class="num">
        {bytes.toLocaleString("en-US")}
      </span>
      <span role="cell" class="mono faint cut" title={digest}>
        {digest.slice(0, 16)}
      </span>
      <span role="cell" class="mono faint cut" title={link ?? ""}>
        {link === null ? "" : link.slice(0, 16)}
      </span>
      <span role="cell" class="num">
        <Clock time={time} />
      </span>
    </div>
  );
}

const HEADS = ["Seq", "Type", "Id", "Bytes", "SHA-256", "Link of the batch", "Time"];

/** Every record of the log, as it lies there. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { records, headSeq, error, ensure } = useRecords(conversation);
  const at = query.value.get("at");
  if (error !== null && headSeq === null) return <Failure error={error} />;
  if (headSeq === null) return <GhostRows />;
  return (
    <div class={at === null ? "" : "with-exact log-page"}>
      <div role="table" aria-label="Records" aria-rowcount={headSeq}>
        <div role="rowgroup">
          <div class="log-row heads" role="row">
            {HEADS.map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
          </div>
        </div>
        <VirtualList
          count={headSeq}
          role="rowgroup"
          rowRole="row"
          overscan={12}
          estimate={() => 28}
          keyOf={(index) => index}
          render={(index) => <Row record={records.get(index + 1)} />}
          onRange={ensure}
        />
        <p class="block faint">
          {countText(headSeq, "entry", "entries")}; a line ends a batch, whose link holds all before it.
        </p>
      </div>
      {at === null ? null : <RecordDetail conversation={conversation} entry={at} />}
    </div>
  );
}
