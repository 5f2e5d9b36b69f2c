import type { Pool } from "pg";
import { entryDigest } from "#log/batch-links";
import { FORMAT_VERSION } from "#log/entry";
import { typeNumber } from "#log/entry-types";
import { summaryAfter } from "#log/plans/head-change";
import { planAppend } from "#log/plans/plan-append";
import { user } from "#store/contract/rig";
import { prepare, systemIdsAndTime } from "#store/prepare";
import { sha256 } from "#store/sha256";
import { readState, summaryOut } from "#stores/postgres/tables/pg-rows";

const CALL = `select verdict from older.append_1(${Array.from({ length: 38 }, (_, at) => `$${at + 1}`).join(", ")})`;

/** Appends as a node of schema version 1 does, by the function of that version; says what it was told. */
export async function appendAsOlder(pool: Pool, id: string, text: string): Promise<string> {
  const { rows } = await pool.query<{ state: string }>(
    "select row_to_json(c)::text as state from older.conversations c where space = 'default' and id = $1",
    [id],
  );
  const { head, lease, born, summarySeq } = readState(rows[0]?.state ?? "");
  const prepared = prepare([user(text)], systemIdsAndTime);
  const author = { kind: "once" } as const;
  const nothing = { seen: null, known: new Map(), settings: new Map(), kept: new Map() };
  const plan = planAppend({ head, lease, nowMs: 0, ...nothing }, { author, ...prepared });
  if (plan.kind !== "write") throw new Error(`planned as ${plan.kind}`);
  const { entries, basis, change } = plan;
  const { leaf } = change;
  const summary = summaryAfter(head, change);
  const changed = summary !== head.summary;
  const withLength = (part: string): string => `${Buffer.byteLength(part)}:${part}`;
  const linked = entries.flatMap((entry) => [entry.parentId ?? "", entryDigest(sha256, entry)]);
  const columns: readonly unknown[] = [
    entries.map((entry) => entry.id),
    entries.map(({ type }) => type),
    entries.map(({ time }) => time),
    entries.map(({ parentId }) => parentId),
    entries.map(({ place }) => place?.segment ?? null),
    entries.map(({ place }) => place?.depth ?? null),
  ];
  const kinds = entries.map(({ type }) => typeNumber(type));
  const payloads = entries.map(({ payload }) => payload).join("\u001e");
  const batch = [
    "default",
    id,
    null,
    "",
    ...columns,
    kinds,
    payloads,
    FORMAT_VERSION,
    change.byOwner,
    null,
    false,
  ];
  const rests = [
    born,
    basis?.epoch,
    basis?.ownerSeq,
    basis?.ownerLink,
    true,
    changed ? summarySeq : null,
    null,
  ];
  const place = [
    change.epoch,
    leaf?.id,
    null,
    leaf?.segment,
    leaf?.depth,
    leaf?.tip,
    change.segments,
    null,
    null,
  ];
  const words = [change.updatedAt, changed ? summaryOut(summary) : null, withLength(String(FORMAT_VERSION))];
  const end = [["owner", ...linked].map(withLength).join(""), null, head.headSeq];
  const answer = await pool.query<{ verdict: string }>(CALL, [
    ...batch,
    ...rests,
    ...place,
    ...words,
    ...end,
  ]);
  return answer.rows[0]?.verdict ?? "";
}
