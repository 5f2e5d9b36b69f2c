import type { JSX } from "preact";
import type { TurnUsageView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { Carrier } from "../../parts/marks/carrier.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { clockText, dayText } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { CsvButton } from "./csv-button.tsx";
import type { CsvRow } from "./csv-text.ts";
import { markWords, peakOf } from "./turn-geometry.ts";
import { CostCell } from "./usage-table.tsx";

type Turn = TurnUsageView["turns"][number];
type Mark = TurnUsageView["marks"][number];

const NUMBERS = ["Context", "In", "From cache", "Out", "Cost"];

function happened(turn: Turn, marks: readonly Mark[], peak: number | null): readonly string[] {
  return [
    ...marks.map((mark) =>
      safeLine(mark.kind === "rollover" ? `rolled over: ${markWords(mark)}` : markWords(mark)),
    ),
    ...(turn.number === peak ? ["peak"] : []),
    ...(turn.outcome === null || turn.outcome === "completed"
      ? []
      : [turn.outcome === "open" ? "running" : turn.outcome]),
  ];
}

function Row({
  turn,
  marks,
  peak,
  conversation,
}: {
  readonly turn: Turn;
  readonly marks: readonly Mark[];
  readonly peak: number | null;
  readonly conversation: string;
}): JSX.Element {
  const { number, prompt, carrier, contextTokens, time } = turn;
  const [first, ...others] = happened(turn, marks, peak);
  const kind = marks[0]?.kind;
  return (
    <tr>
      <td>
        {prompt === null ? (
          number
        ) : (
          <a
            class="link"
            href={conversationAddress(conversation, "", { at: prompt })}
            aria-label={`Turn ${number}`}
          >
            {number}
          </a>
        )}
      </td>
      <td>{carrier === null ? <span class="faint">–</span> : <Carrier place={carrier} />}</td>
      <td>{turn.model === null ? <span class="faint">–</span> : safeLine(turn.model)}</td>
      <td class="num">{contextTokens === null ? "–" : contextTokens.toLocaleString("en-US")}</td>
      <td class="num">{turn.inputTokens.toLocaleString("en-US")}</td>
      <td class="num">{turn.cacheReadTokens.toLocaleString("en-US")}</td>
      <td class="num">{turn.outputTokens.toLocaleString("en-US")}</td>
      <td class="num">
        <CostCell row={turn} />
      </td>
      <td>
        {kind === undefined ? null : <Icon name={kind === "rollover" ? "roll" : "fold"} class="in-line" />}{" "}
        <span class={kind === "rollover" ? "carry-words" : ""}>{first ?? ""}</span>
        {others.length === 0 ? "" : `, ${others.join(", ")}`}
      </td>
      <td class="num">
        {dayText(time)} {clockText(time)}
      </td>
    </tr>
  );
}

function csvRows(found: TurnUsageView, peak: number | null): readonly CsvRow[] {
  return [
    [
      "turn",
      "time",
      "prompt",
      "carrier",
      "model",
      "context_tokens",
      "input_tokens",
      "cache_read_tokens",
      "cache_write_tokens",
      "output_tokens",
      "cost_micros",
      "outcome",
      "happened",
    ],
    ...found.turns.map((turn) => [
      turn.number,
      turn.time,
      turn.prompt,
      turn.carrier,
      turn.model,
      turn.contextTokens,
      turn.inputTokens,
      turn.cacheReadTokens,
      turn.cacheWriteTokens,
      turn.outputTokens,
      turn.costMicros,
      turn.outcome,
      happened(turn, marksOf(found, turn), peak).join("; "),
    ]),
  ];
}

function marksOf({ marks }: TurnUsageView, { number }: Turn): readonly Mark[] {
  return marks.filter(({ turn }) => turn === number);
}

/** The numbers of the chart, the newest turn first. */
export function TurnTable({
  found,
  name,
}: {
  readonly found: TurnUsageView;
  readonly name: string;
}): JSX.Element {
  const { conversation, turns, marks } = found;
  const peak = peakOf(turns);
  const later = marks.filter(({ turn }) => turn > (turns.at(-1)?.number ?? 0));
  return (
    <>
      <div class="block-head sheet-head">
        <h2>Usage per turn</h2>
        <span class="grow" />
        <CsvButton name={`usage-${name}`} rows={() => csvRows(found, peak)} />
      </div>
      {later.length === 0 ? null : (
        <p class="faint sheet-note">
          Since the last turn: {later.map((mark) => safeLine(markWords(mark))).join(", ")}.
        </p>
      )}
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Usage per turn">
        <table class="sheet">
          <thead>
            <tr>
              {["Turn", "Session", "Model"].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              {NUMBERS.map((head) => (
                <th key={head} scope="col" class="num">
                  {head}
                </th>
              ))}
              <th scope="col">What happened</th>
              <th scope="col" class="num">
                Started
              </th>
            </tr>
          </thead>
          <tbody>
            {turns.toReversed().map((turn) => (
              <Row
                key={turn.number}
                turn={turn}
                marks={marksOf(found, turn)}
                peak={peak}
                conversation={conversation}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
