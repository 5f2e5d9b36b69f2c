import type { JSX } from "preact";
import type { Entry } from "#log/entry";
import type { Run } from "#log/runs/run-row";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Failure } from "../../parts/failure.tsx";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { costText, countText, tokensText } from "../../parts/numbers.ts";
import { Clock } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { type RunStep, type StepKind, stepsOf } from "./run-steps.ts";

const PAGE = 500;
const PAGES_MAX = 4;
const SHOWN = 200;

const ICONS: Readonly<Record<StepKind, IconName>> = {
  turn: "runs",
  prompt: "user",
  answer: "model",
  call: "ledger",
  result: "terminal",
  person: "lock",
  setting: "settings",
  end: "check",
};
const OUTCOMES = {
  done: ["check", "done", "ok"],
  failed: ["x", "failed", "bad"],
  unknown: ["unknown", "outcome unknown", "unknown"],
} as const;

async function readEntries(
  { conversation, startSeq, highWater }: Pick<Run, "conversation" | "startSeq" | "highWater">,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly Entry[]; readonly isWhole: boolean }> {
  const entries: Entry[] = [];
  let after: number | null = startSeq - 1;
  for (let pages = 0; pages < PAGES_MAX && after !== null && after < highWater; pages++) {
    const page: Awaited<ReturnType<typeof client.listEntries>> = await client.listEntries(
      { conversation, after, limit: PAGE },
      { signal },
    );
    entries.push(...page.entries.filter(({ seq }) => seq <= highWater));
    after = page.next;
  }
  return { entries, isWhole: after === null || after >= highWater };
}

function Row({ step, conversation }: { readonly step: RunStep; readonly conversation: string }): JSX.Element {
  const { kind, what, words, outcome, usage, seq, time } = step;
  return (
    <li class={`run-step is-${kind}`}>
      <a
        class="link mono"
        href={conversationAddress(conversation, "log", { seq: String(seq) })}
        aria-label={`Entry ${seq} in the log`}
      >
        {seq}
      </a>
      <Icon name={ICONS[kind]} />
      <span class="run-what">{safeLine(what)}</span>
      <span class="muted cut grow">{safeLine(words)}</span>
      {usage === null ? null : (
        <span class="faint">
          {tokensText((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tokens
          {usage.costMicros === undefined ? "" : `, ${costText(usage.costMicros)}`}
        </span>
      )}
      {outcome === null ? null : (
        <span class={`tag ${OUTCOMES[outcome][2]}`}>
          <Icon name={OUTCOMES[outcome][0]} />
          {OUTCOMES[outcome][1]}
        </span>
      )}
      <span class="faint">
        <Clock time={time} />
      </span>
    </li>
  );
}

/** What happened in it, in the order of the log. */
export function RunSteps({ run }: { readonly run: Run }): JSX.Element {
  const { conversation, startSeq, highWater } = run;
  const { value, error, reload } = useLoaded(
    (signal) => readEntries(run, signal),
    [run.run, conversation, highWater],
  );
  const steps = value === null ? [] : stepsOf(value.entries, run.status === "running");
  const left = steps.length - SHOWN;
  return (
    <section aria-labelledby="steps-h">
      <div class="block-head">
        <h3 id="steps-h">Steps</h3>
        <span class="muted">
          {countText(steps.length, "row")} of entries {startSeq}–{highWater}; each is durable before the next
          one starts
        </span>
      </div>
      {error === null ? null : <Failure error={error} retry={reload} />}
      <ol class="run-steps">
        {steps.slice(0, SHOWN).map((step) => (
          <Row key={step.seq} step={step} conversation={conversation} />
        ))}
      </ol>
      {left <= 0 && value?.isWhole !== false ? null : (
        <p class="muted">
          {left > 0 ? `${countText(left, "more row")}. ` : ""}
          <a class="link" href={conversationAddress(conversation, "log", { seq: String(startSeq) })}>
            See all of it in the log
          </a>
        </p>
      )}
    </section>
  );
}
