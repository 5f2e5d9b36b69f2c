import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import type { DailyRow } from "#edges/http/client/views";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText, spentText, tokensText, unpricedText } from "../../parts/numbers.ts";
import { changeQuery, query } from "../../router/location.ts";
import { DayChart } from "./day-chart.tsx";
import { inputCard, UsageCards } from "./usage-cards.tsx";
import { conversationLines, dayLines, modelLines } from "./usage-lines.tsx";
import { addedUp, columnsOf, type Measure, RANGES, type Span, spanIn, tonesOf } from "./usage-spans.ts";
import { UsageTable } from "./usage-table.tsx";

type Daily = Api["getDailyUsage"]["response"];

const VIEWS = [
  ["day", "Per day"],
  ["model", "Per model"],
  ["conversation", "Per conversation"],
] as const;

function Choice({
  label,
  choices,
  chosen,
  choose,
}: {
  readonly label: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly chosen: string | null;
  readonly choose: (name: string) => void;
}): JSX.Element {
  return (
    <span class="seg" role="group" aria-label={label}>
      {choices.map(([name, words]) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => choose(name)}>
          {words}
        </button>
      ))}
    </span>
  );
}

function DayInput({
  name,
  label,
  day,
}: {
  readonly name: string;
  readonly label: string;
  readonly day: string | null;
}): JSX.Element {
  return (
    <label class="day-input">
      {label}{" "}
      <input
        type="date"
        value={day ?? ""}
        onChange={(event) => changeQuery({ [name]: event.currentTarget.value, range: null })}
      />
    </label>
  );
}

function Head({
  span,
  by,
  measure,
}: {
  readonly span: Span;
  readonly by: string;
  readonly measure: Measure;
}): JSX.Element {
  return (
    <header class="head">
      <div class="head-row usage-head">
        <h1>Usage</h1>
        <Choice
          label="Time"
          choices={RANGES}
          chosen={span.range}
          choose={(range) => changeQuery({ range, since: null, until: null })}
        />
        <DayInput name="since" label="From" day={span.since} />
        <DayInput name="until" label="to" day={span.until} />
        <span class="grow" />
        <Choice label="Table" choices={VIEWS} chosen={by} choose={(name) => changeQuery({ by: name })} />
        <Choice
          label="Measure"
          choices={[
            ["cost", "Cost"],
            ["tokens", "Tokens"],
          ]}
          chosen={measure}
          choose={(name) => changeQuery({ show: name })}
        />
      </div>
    </header>
  );
}

function total(rows: readonly DailyRow[]): Omit<DailyRow, "day" | "model" | "replay"> {
  const [sum] = addedUp(rows, () => "all");
  return (
    sum ?? {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costMicros: 0,
      unpricedAnswers: 0,
    }
  );
}

function Cards({ found }: { readonly found: Daily }): JSX.Element {
  const own = total(found.rows.filter(({ replay }) => !replay));
  const replays = total(found.rows.filter(({ replay }) => replay));
  return (
    <UsageCards
      cards={[
        {
          name: "Cost",
          value: spentText(own),
          more: own.unpricedAnswers === 0 ? "" : unpricedText(own.unpricedAnswers),
        },
        inputCard(own),
        { name: "Tokens out", value: tokensText(own.outputTokens) },
        { name: "Conversations", value: found.conversationCount.toLocaleString("en-US") },
        { name: "Rollovers", value: found.rollovers.toLocaleString("en-US") },
        {
          name: "Replays (not in the total)",
          value: spentText(replays),
          more: found.replayCount === 0 ? "" : countText(found.replayCount, "replay"),
        },
      ]}
    />
  );
}

function Tables({
  found,
  by,
  measure,
  isByMonth,
}: {
  readonly found: Daily;
  readonly by: string;
  readonly measure: Measure;
  readonly isByMonth: boolean;
}): JSX.Element {
  if (by === "model")
    return (
      <UsageTable label="Usage per model" heads={["Model", "Kind"]} lines={modelLines(found.rows, measure)} />
    );
  if (by === "conversation")
    return (
      <>
        <UsageTable
          label="Usage per conversation"
          heads={["Conversation", "Kind", "Rollovers"]}
          lines={conversationLines(found.conversations, measure)}
        />
        {found.conversationCount + found.replayCount > found.conversations.length ? (
          <p class="faint sheet-note">
            The most expensive, of {countText(found.conversationCount, "conversation")} and{" "}
            {countText(found.replayCount, "replay")}.
          </p>
        ) : null}
      </>
    );
  const [unit, label] = isByMonth ? ["Month", "Usage per month"] : ["Day", "Usage per day"];
  return <UsageTable label={label} heads={[unit, "Model", "Kind"]} lines={dayLines(found.rows, isByMonth)} />;
}

/** What all conversations used: over time, by model and by conversation. */
export function Page(): JSX.Element {
  const nowMs = Date.now();
  const span = spanIn(query.value, nowMs);
  const by = VIEWS.find(([name]) => name === query.value.get("by"))?.[0] ?? "day";
  const measure: Measure = query.value.get("show") === "tokens" ? "tokens" : "cost";
  const { since, until } = span;
  const { value, error, reload } = useLoaded(
    (signal) =>
      client.getDailyUsage(
        { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) },
        { signal },
      ),
    [since, until],
  );
  const columns = value === null ? [] : columnsOf(value.rows, span, measure, nowMs);
  return (
    <>
      <Head span={span} by={by} measure={measure} />
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value === null ? (
        error === null ? (
          <GhostRows />
        ) : null
      ) : (
        <div class="block">
          <Cards found={value} />
          {value.rows.length === 0 ? (
            <p class="muted usage-none" data-testid="no-usage">
              No usage in this period.{" "}
              <a class="link" href="/usage?range=all">
                All time
              </a>
            </p>
          ) : (
            <>
              <DayChart columns={columns} tones={tonesOf(value.rows, measure)} measure={measure} />
              <Tables found={value} by={by} measure={measure} isByMonth={columns[0]?.name.length === 7} />
            </>
          )}
          <p class="faint sheet-note">
            Days are in UTC. Usage that a fork shares with its source counts once, in the source. Replays are
            not in any total.
            {value.leftOut.length === 0
              ? ""
              : ` ${countText(value.leftOut.length, "conversation")} could not be read and ${value.leftOut.length === 1 ? "is" : "are"} left out.`}
          </p>
        </div>
      )}
    </>
  );
}
