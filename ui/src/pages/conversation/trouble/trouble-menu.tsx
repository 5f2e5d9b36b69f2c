import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { connection } from "../../../data/api-client.ts";
import { Icon } from "../../../parts/marks/icon.tsx";
import type { Agents } from "../compose/agent-choice.ts";
import { openedConversation } from "../opened-conversation.ts";
import { reloadWaiting, strike } from "./struck-agent.ts";
import { KILL_SERVER, type Trouble, troubleGroups, troublesOf } from "./trouble-table.ts";

interface MenuProps {
  readonly agent: Agents[number];
  readonly conversation: string;
  readonly seq: number;
  readonly isWorking: boolean;
}

function Item({ trouble, run }: { readonly trouble: Trouble; readonly run: () => void }): JSX.Element {
  const { kind, phase, name, does, watch, icon } = trouble;
  return (
    <button
      class={kind === KILL_SERVER ? "menu-item danger" : "menu-item"}
      type="button"
      data-testid={["failure", kind, ...(phase === undefined ? [] : [phase])].join("-")}
      onClick={run}
    >
      <Icon name={icon} />
      <span class="name">{name}</span>
      <span class="does">{does}</span>
      {watch === "" ? null : (
        <span class="then">
          <b>Watch:</b> {watch}
        </span>
      )}
    </button>
  );
}

/** Closes it by Escape and by a click beside it; arrows move in it. */
function useMenu(): { readonly current: HTMLDetailsElement | null } {
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const onClick = (event: Event): void => {
      if (ref.current !== null && event.target instanceof Node && !ref.current.contains(event.target))
        ref.current.open = false;
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
  return ref;
}

function onMenuKey(event: KeyboardEvent, details: HTMLDetailsElement | null): void {
  if (details === null || !details.open) return;
  const items = [...details.querySelectorAll("button")];
  const at = items.findIndex((item) => item === document.activeElement);
  if (event.key === "Escape") {
    details.open = false;
    details.querySelector("summary")?.focus();
  } else if (event.key === "ArrowDown") items[Math.min(at + 1, items.length - 1)]?.focus();
  else if (event.key === "ArrowUp") items[Math.max(at - 1, 0)]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Strikes the simulated agent, so that one sees the conversation survive. Other agents have none. */
export function TroubleMenu({ agent: struck, conversation, seq, isWorking }: MenuProps): JSX.Element {
  const ref = useMenu();
  const isKnown = openedConversation(conversation) !== null;
  const isFirst = useRef(true);
  // What waited for a turn strikes in it. What others asked for is seen in the menu.
  useEffect(() => {
    if (!isKnown || connection.value !== "live") return;
    if (!isFirst.current) void reloadWaiting(struck.agent);
    isFirst.current = false;
  }, [struck.agent, isKnown, isWorking, connection.value]);
  const run = (trouble: Trouble): void => {
    if (ref.current !== null) ref.current.open = false;
    void strike(struck.agent, { conversation, seq }, trouble);
  };
  return (
    <details
      class="trouble"
      ref={ref}
      onToggle={(event) => event.currentTarget.open && void reloadWaiting(struck.agent)}
      onKeyDown={(event) => onMenuKey(event, ref.current)}
    >
      <summary class="btn quiet" aria-label="Simulate failure">
        <Icon name="bolt" />
        <span class="wide">Simulate failure</span>
      </summary>
      <div class="menu" role="group" aria-label="Failures to simulate">
        <p class="menu-head">
          <b>Break the simulated agent</b>A failure applies to the next turn unless marked “now”. Then send a
          prompt and watch the conversation survive.
        </p>
        <div class="menu-groups">
          {troubleGroups(troublesOf(struck)).map(({ name, troubles }) => (
            <section key={name} class={name === "This server" ? "menu-foot" : undefined}>
              <h2 class="caption">{name}</h2>
              {troubles.map((trouble) => (
                <Item key={trouble.name} trouble={trouble} run={() => run(trouble)} />
              ))}
            </section>
          ))}
        </div>
      </div>
    </details>
  );
}
