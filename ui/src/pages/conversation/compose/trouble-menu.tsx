import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { attempted } from "../entry/acts.ts";
import type { Agents } from "./model-choice.tsx";

interface Trouble {
  readonly name: string;
  readonly leads: string;
  readonly icon: IconName;
}

/** What each trouble is called, and what will be seen of it; others are shown by their own names. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  limit: { name: "Rate limit", leads: "parked; the same session goes on", icon: "pause" },
  empty: { name: "Empty answer", leads: "one recovery, in a new session", icon: "dash" },
  crash: { name: "Crash", leads: "nothing runs twice; outcome unknown", icon: "bolt" },
  expire: { name: "Session expires", leads: "rolls; prior context is carried", icon: "x" },
  lost_transcript: { name: "Lose the transcript", leads: "rolls; rebuilt from the log", icon: "hide" },
  rolled_id: { name: "Id rolls by itself", leads: "linked before any later update", icon: "swap" },
  restart: { name: "Restart of the agent", leads: "now; the session is resumed or rebuilt", icon: "replay" },
  hang: { name: "Hang", leads: "given up on after a while, and recovered", icon: "pause" },
  overload: { name: "Overload", leads: "backs off and tries again", icon: "usage" },
  too_long: { name: "Too long", leads: "rolls to a session with room", icon: "fold" },
  poison: { name: "Poisoned session", leads: "rolls; what spoilt it is named", icon: "warn" },
  cut_transcript: { name: "Cut the transcript", leads: "found out; rebuilt from the log", icon: "dash" },
  stale: { name: "Stale answer", leads: "what belongs to no turn reaches nobody", icon: "history" },
  late: { name: "Late words", leads: "words of a dead session reach nobody", icon: "history" },
  auth: { name: "Signed out", leads: "asks for a person; nothing is lost", icon: "lock" },
  credit: { name: "Out of credit", leads: "asks for a person; nothing is lost", icon: "usage" },
  ignore_cancel: { name: "Deaf to stop", leads: "a stop is carried out all the same", icon: "stop" },
  kill_server: { name: "Kill this server", leads: "SIGKILL now; back on the same port", icon: "stop" },
};
const FIRST = Object.keys(TROUBLES);

function told(kind: string): Trouble {
  return TROUBLES[kind] ?? { name: kind.replaceAll("_", " "), leads: "", icon: "bolt" };
}

function inOrder(kinds: readonly string[]): readonly string[] {
  const place = (kind: string): number => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  return kinds.toSorted((a, b) => place(a) - place(b));
}

/** Strikes the simulated agent, so that one sees the conversation survive. Other agents have none. */
export function TroubleMenu({
  agents,
  isWorking,
}: {
  readonly agents: Agents;
  readonly isWorking: boolean;
}): JSX.Element | null {
  const struck = agents.find(({ troubles }) => troubles.length > 0);
  const [armed, setArmed] = useState<string | null>(null);
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      if (ref.current !== null && event.target instanceof Node && !ref.current.contains(event.target))
        ref.current.open = false;
    };
    document.addEventListener("click", close);
    return () => document.removeEventListener("click", close);
  }, []);
  // What waited for a turn has one now.
  useEffect(() => {
    if (isWorking) setArmed(null);
  }, [isWorking]);
  if (struck === undefined) return null;
  const strike = async (kind: string): Promise<void> => {
    if (ref.current !== null) ref.current.open = false;
    const done = await attempted(() => client.strikeAgent({ agent: struck.agent, kind }));
    if (done !== null) setArmed(kind);
  };
  return (
    <>
      {armed === null ? null : (
        <span class="armed">
          <Icon name="bolt" />
          <span>
            {told(armed).name}
            <span class="wide">, next turn</span>
          </span>
          <button type="button" aria-label="Say no more of it" onClick={() => setArmed(null)}>
            <Icon name="x" />
          </button>
        </span>
      )}
      <details class="trouble" ref={ref}>
        <summary class="btn quiet" aria-label="Trouble">
          <Icon name="bolt" />
          <span class="wide">Trouble</span>
        </summary>
        <div class="menu" role="group" aria-label="Trouble for the simulated agent">
          <p class="menu-head">
            <b>Strike the simulated agent</b>In its next turn. Then watch.
          </p>
          {inOrder(struck.troubles).map((kind) => (
            <button
              key={kind}
              class={kind === "kill" ? "menu-item danger" : "menu-item"}
              type="button"
              onClick={() => void strike(kind)}
            >
              <Icon name={told(kind).icon} />
              <span>{told(kind).name}</span>
              <span class="then cut">{told(kind).leads}</span>
            </button>
          ))}
        </div>
      </details>
    </>
  );
}
