import type { ComponentChildren, JSX } from "preact";
import type { Run } from "#log/runs/run-row";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { withText } from "../../data/exact-text.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText, elapsedText, spentText, tokensText } from "../../parts/numbers.ts";
import { Moment } from "../../parts/shown-time.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { changeQuery } from "../../router/location.ts";
import { forkFrom } from "./fork-from.ts";
import { Restored } from "./restored-run.tsx";
import { RunStatus } from "./run-list.tsx";
import { RunSteps } from "./run-step-list.tsx";
import { runMs, triggerText } from "./run-words.ts";

function factsOf(run: Run): readonly (readonly [string, ComponentChildren])[] {
  const { usage, startSeq, highWater, conversation } = run;
  const words = (value: unknown): string => safeLine(JSON.stringify(value).slice(0, 300));
  return [
    ["Id", <CopyButton key="id" text={run.run} what="id of the run" />],
    ["Trigger", safeLine(triggerText(run))],
    ["Model", run.model === null ? "unknown" : safeLine(run.model)],
    ...(run.window === null ? [] : [["Window", `${run.window.toLocaleString("en-US")} tokens`] as const]),
    [
      "Took",
      `${countText(run.prompts, "prompt")}, ${countText(run.steps, "step")}, ${elapsedText(runMs(run, Date.now()))}`,
    ],
    [
      "Used",
      `${tokensText(usage.inputTokens)} tokens in, ${tokensText(usage.outputTokens)} out, ${spentText(usage)}`,
    ],
    ["Started", <Moment key="began" time={run.startedAt} />],
    ["Ended", run.completedAt === null ? "not yet" : <Moment key="ended" time={run.completedAt} />],
    [
      "Entries",
      <a key="log" class="link" href={conversationAddress(conversation, "log", { seq: String(startSeq) })}>
        {startSeq.toLocaleString("en-US")}–{highWater.toLocaleString("en-US")}
      </a>,
    ],
    ...(run.mailbox === null ? [] : [["Mailbox", safeLine(run.mailbox)] as const]),
    ...(run.tools === null
      ? []
      : [["Tools", run.tools.map((name) => safeLine(name)).join(", ") || "none"] as const]),
    ...(run.continues === null ? [] : [["Continues", <RunLink key="run" id={run.continues} />] as const]),
    ...(run.parent === null
      ? []
      : [
          [
            "Caused by",
            <a key="parent" class="link mono" href={conversationAddress(run.parent.conversation)}>
              {safeLine(run.parent.conversation)}
            </a>,
          ] as const,
        ]),
    ...(run.promptPatch === null ? [] : [["Prompt patch", words(run.promptPatch)] as const]),
    ...(run.policy === null ? [] : [["Policy", words(run.policy)] as const]),
  ];
}

function RunLink({ id }: { readonly id: string }): JSX.Element {
  return (
    <button class="link mono" type="button" onClick={() => changeQuery({ run: id, show: null })}>
      {safeLine(id)}
    </button>
  );
}

/** How often it was replayed: replays are runs of their own, and name what they replay. */
function Replays({ run }: { readonly run: Run }): JSX.Element | null {
  const { value } = useLoaded(
    async (signal) =>
      (await client.listReplays({ conversation: run.conversation, limit: 100 }, { signal })).replays,
    [run.run],
  );
  const own = (value ?? []).filter(({ plan }) => plan.source.run === run.run);
  if (own.length === 0) return null;
  return (
    <p class="muted">
      Replayed:{" "}
      {own.map(({ replay, status, plan }) => (
        <a key={replay} class="link" href={`/replay/${encodeURIComponent(replay)}`}>
          {plan.models.map((model) => safeLine(model)).join(", ")} ({status})
        </a>
      ))}
    </p>
  );
}

function Head({ run, conversation }: { readonly run: Run; readonly conversation: string }): JSX.Element {
  return (
    <>
      <div class="run-head">
        <button
          class="btn quiet icon only-narrow"
          type="button"
          aria-label="Back to the runs"
          onClick={() => changeQuery({ run: null, show: null })}
        >
          <Icon name="left" />
        </button>
        <h2 class="cut">{safeLine(triggerText(run))}</h2>
        <RunStatus run={run} />
        <span class="grow" />
        <a class="btn" href={addressOf("/replay", { run: run.run, conversation: run.conversation })}>
          <Icon name="replay" />
          Replay this run
        </a>
        <button class="btn" type="button" onClick={() => void forkFrom(run.run, conversation, null)}>
          <Icon name="fork" />
          Fork from its end
        </button>
      </div>
      {run.error === null ? null : (
        <div class="banner bad" role="status">
          <Icon name="warn" />
          <span>
            <b>{safeLine(run.error.message)}</b> <code>{safeLine(run.error.code ?? "failed")}</code>
          </span>
        </div>
      )}
      <dl class="run-facts">
        {factsOf(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Replays run={run} />
    </>
  );
}

/** A run that was opened: what it is, what happened in it, and what would be restored at its end. */
export function RunDetails({
  id,
  run,
  conversation,
}: {
  readonly id: string;
  /** As the list has it, where it is there; what a fork has inherited is not. */
  readonly run: Run | null;
  readonly conversation: string;
}): JSX.Element {
  // Each step that is counted is a reason to read it again.
  const { value, error, reload } = useLoaded(
    (signal) => withText(signal, (options) => client.hydrate({ run: id, conversation }, options)),
    [id, conversation, run?.status, run?.steps],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  return (
    <article class="run-details" aria-label="Run">
      <Head run={value.value.run} conversation={conversation} />
      <RunSteps run={value.value.run} />
      <Restored hydrated={value.value} text={value.text} conversation={conversation} />
    </article>
  );
}
