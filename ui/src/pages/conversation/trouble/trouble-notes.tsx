import type { ComponentChildren, JSX } from "preact";
import { Icon } from "../../../parts/marks/icon.tsx";
import type { ThreadState } from "../thread/thread-state.ts";
import { callOff, isAtOnce, lastStrike, waitingTroubles } from "./struck-agent.ts";
import { survivalSince } from "./survival.ts";
import { KILL_SERVER, type Trouble } from "./trouble-table.ts";

function Note({
  kind,
  children,
  end,
}: {
  readonly kind: "armed" | "under-way" | "over";
  readonly children: ComponentChildren;
  readonly end: JSX.Element;
}): JSX.Element {
  return (
    <div class={`trouble-note ${kind}`}>
      <Icon name={kind === "over" ? "check" : "bolt"} />
      <p class="grow">{children}</p>
      {end}
    </div>
  );
}

const PutAway = (): JSX.Element => (
  <button
    class="btn quiet icon small"
    type="button"
    aria-label="Dismiss"
    onClick={() => (lastStrike.value = null)}
  >
    <Icon name="x" />
  </button>
);

function Armed({
  troubles,
  agent,
}: {
  readonly troubles: readonly Trouble[];
  readonly agent: string;
}): JSX.Element {
  return (
    <Note
      kind="armed"
      end={
        <button class="btn small" type="button" onClick={() => void callOff(agent)}>
          Cancel
        </button>
      }
    >
      <b>{troubles.map(({ name }) => name).join(", ")}</b> applies to the next turn.
      {troubles.length === 1 ? ` ${troubles[0]?.watch ?? ""}` : ""}
    </Note>
  );
}

function killWords(goneMs: number | null, backMs: number | null): string {
  if (goneMs === null) return "is being killed.";
  if (backMs === null) return "was killed and is restarting. This page stays.";
  const seconds = Math.max(0.1, (backMs - goneMs) / 1_000).toFixed(1);
  return `was killed and came back after ${seconds} s. All acknowledged data is still here.`;
}

/** What became of the last trouble of this tab, in words that stay until they are put away. */
function Story({ state }: { readonly state: ThreadState }): JSX.Element | null {
  const last = lastStrike.value;
  if (last === null) return null;
  const { trouble, goneMs, backMs } = last;
  if (trouble.kind === KILL_SERVER)
    return (
      <Note kind={backMs === null ? "under-way" : "over"} end={<PutAway />}>
        <b>The server</b> {killWords(goneMs, backMs)}
      </Note>
    );
  const { turn, isAnswered, words } = survivalSince(state, last.seq);
  if (turn === "none")
    return isAtOnce(trouble) ? (
      <Note kind="under-way" end={<PutAway />}>
        <b>{trouble.name}</b> happened. {trouble.watch}
      </Note>
    ) : null;
  const told = words.length === 0 && turn === "ended" ? ["No recovery was needed."] : words;
  return (
    <Note kind={isAnswered ? "over" : "under-way"} end={<PutAway />}>
      <b>{trouble.name}</b> {turn === "running" ? "applies to this turn." : "happened."} {told.join(" ")}
      {isAnswered ? " The agent answered." : ""}
    </Note>
  );
}

/** Beside the simulated agent: the trouble that waits for it, and what became of the last one. Read out when it changes. */
export function TroubleNotes({
  agent,
  conversation,
  state,
}: {
  readonly agent: string;
  readonly conversation: string;
  readonly state: ThreadState;
}): JSX.Element {
  const troubles = waitingTroubles.value;
  const isHere = lastStrike.value?.conversation === conversation;
  return (
    <div role="status" aria-label="Simulated failure">
      {troubles.length === 0 ? null : <Armed troubles={troubles} agent={agent} />}
      {isHere && (troubles.length === 0 || lastStrike.value?.trouble.kind === KILL_SERVER) ? (
        <Story state={state} />
      ) : null}
    </div>
  );
}
