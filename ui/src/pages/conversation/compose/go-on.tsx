import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "#edges/http/client/index";
import { client } from "../../../data/api-client.ts";
import { Icon } from "../../../parts/marks/icon.tsx";
import { Clock } from "../../../parts/shown-time.tsx";
import { attemptedOnce } from "../entry/acts.ts";
import type { ThreadState } from "../thread/thread-state.ts";
import type { choiceFor } from "./agent-choice.ts";
import { goOnVerb, type Verb } from "./go-on-verb.ts";

type TurnChoice = ReturnType<typeof choiceFor>;

const NAMES: { readonly [V in Verb]: string } = {
  continueTurn: "Continue",
  retry: "Send the prompt again",
};
const TICK_MS = 500;

/** The log knows better than this page what came back: where it refuses the one, the other is meant. */
async function goOn(conversation: string, choice: TurnChoice, verb: Verb): Promise<void> {
  const ask = (how: Verb): Promise<unknown> => client[how]({ conversation, ...choice });
  await attemptedOnce(`go on ${conversation}`, async () => {
    try {
      return await ask(verb);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "invalid_request") throw error;
      return ask(verb === "retry" ? "continueTurn" : "retry");
    }
  });
}

function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return isTicking ? Math.max(now, 0) : Date.now();
}

/** Parked until a time: the prompt may be sent again by itself, as long as this page is open. */
function Parked({
  until,
  name,
  act,
}: {
  readonly until: string;
  readonly name: string;
  readonly act: () => void;
}): JSX.Element {
  const [isByItself, setByItself] = useState(false);
  const [isFree, setFree] = useState(() => Date.parse(until) <= Date.now());
  const leftMs = Date.parse(until) - useNow(!isFree);
  useEffect(() => {
    if (isFree || leftMs > 0) return;
    setFree(true);
    if (isByItself) act();
  }, [isFree, leftMs <= 0, isByItself]);
  if (isFree)
    return (
      <>
        <span class="grow">The rate limit is over. Your prompt is saved.</span>
        <button class="btn" type="button" onClick={act}>
          <Icon name="replay" />
          {name}
        </button>
      </>
    );
  return (
    <>
      <span class="grow">
        Limit ends at <Clock time={until} /> ({Math.max(1, Math.ceil(leftMs / 1_000))} s).
      </span>
      <button
        class="btn"
        type="button"
        aria-pressed={isByItself}
        onClick={() => setByItself(!isByItself)}
        title="Works while this page is open"
      >
        <Icon name={isByItself ? "check" : "replay"} />
        {isByItself ? "Will be sent automatically" : "Send automatically"}
      </button>
    </>
  );
}

/** What a turn that is over without its answer waits for. */
export function GoOn({
  conversation,
  state,
  isLeft,
  until,
  choice,
}: {
  readonly conversation: string;
  readonly choice: TurnChoice;
  readonly state: ThreadState;
  /** Whoever carried it is gone. */
  readonly isLeft: boolean;
  readonly until: string | null;
}): JSX.Element {
  const verb = goOnVerb(state);
  const act = (): void => void goOn(conversation, choice, verb);
  return (
    <div class="go-on" role="group" aria-label="The last turn did not finish">
      <Icon name={until === null ? "warn" : "pause"} />
      {until === null ? (
        <>
          <span class="grow">
            {isLeft
              ? "The process running this turn stopped. Everything it produced so far is saved."
              : "The last turn did not finish."}
          </span>
          <button class="btn" type="button" onClick={act}>
            <Icon name={verb === "retry" ? "replay" : "runs"} />
            {NAMES[verb]}
          </button>
        </>
      ) : (
        <Parked key={until} until={until} name={NAMES[verb]} act={act} />
      )}
    </div>
  );
}
