import type { ComponentChildren, JSX } from "preact";
import type { DailyRow } from "#edges/http/client/views";
import { costText, unpricedText } from "../../parts/numbers.ts";
import { CsvButton } from "./csv-button.tsx";
import type { CsvRow } from "./csv-text.ts";

export type Used = Omit<DailyRow, "day" | "model" | "replay">;

/** A line of the table: what it is called, as it is shown and as it is saved. */
export interface UsageLine {
  readonly used: Used;
  readonly key: string;
  readonly names: readonly string[];
  readonly shown: readonly ComponentChildren[];
  /** Of the longest bar; without it there are none. */
  readonly share?: number;
}

interface UsageTableProps {
  readonly label: string;
  /** What the names are. */
  readonly heads: readonly string[];
  readonly lines: readonly UsageLine[];
}

const COUNTS = ["In", "From cache", "Into cache", "Out", "Cost"];
const number = (value: number): string => value.toLocaleString("en-US");

export function CostCell({
  row,
}: {
  readonly row: Pick<Used, "costMicros" | "unpricedAnswers">;
}): JSX.Element {
  const { costMicros, unpricedAnswers } = row;
  if (costMicros === null) return <span class="faint">unknown</span>;
  return (
    <>
      {unpricedAnswers === 0 ? "" : <span title={unpricedText(unpricedAnswers)}>at least </span>}
      {costText(costMicros)}
    </>
  );
}

function Bar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="8" />
      <rect class="part" width={Math.max(share > 0 ? 0.5 : 0, share * 100)} height="8" />
    </svg>
  );
}

/** The numbers behind a chart: exact, and to be saved. */
export function UsageTable({ label, heads, lines }: UsageTableProps): JSX.Element {
  const hasBars = lines.some(({ share }) => share !== undefined);
  const csv = (): readonly CsvRow[] => [
    [...heads, "input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "cost_micros"],
    ...lines.map((line) => [
      ...line.names,
      line.used.inputTokens,
      line.used.cacheReadTokens,
      line.used.cacheWriteTokens,
      line.used.outputTokens,
      line.used.costMicros,
    ]),
  ];
  return (
    <>
      <div class="block-head sheet-head">
        <h2>{label}</h2>
        <span class="grow" />
        <CsvButton name={label.toLowerCase().replaceAll(" ", "-")} rows={csv} />
      </div>
      <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
        <table class="sheet">
          <thead>
            <tr>
              {heads.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              {hasBars ? (
                <th scope="col">
                  <span class="sr">Share</span>
                </th>
              ) : null}
              {COUNTS.map((name) => (
                <th key={name} scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.key}>
                {line.shown.map((name, at) => (
                  <td key={at}>{name}</td>
                ))}
                {hasBars ? (
                  <td class="share-cell">
                    <Bar share={line.share ?? 0} />
                  </td>
                ) : null}
                <td class="num">{number(line.used.inputTokens)}</td>
                <td class="num">{number(line.used.cacheReadTokens)}</td>
                <td class="num">{number(line.used.cacheWriteTokens)}</td>
                <td class="num">{number(line.used.outputTokens)}</td>
                <td class="num">
                  <CostCell row={line.used} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
