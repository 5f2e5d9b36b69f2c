import type { ComponentChildren, JSX } from "preact";
import type { Fidelity, PriorContextCounts } from "#log/entry";
import { countText } from "../numbers.ts";
import { Icon } from "./icon.tsx";

function Yes({ words }: { readonly words: string }): JSX.Element {
  return (
    <span class="yes">
      <Icon name="check" />
      {words}
    </span>
  );
}

/** What an upstream session came to know of the conversation, and what it did not. */
export function Carried({
  priorContext,
  fidelity,
  children,
}: {
  readonly priorContext: PriorContextCounts | null;
  readonly fidelity: Fidelity | null;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="carried">
      {fidelity === "native" ? <Yes words="the agent kept its own memory" /> : null}
      {fidelity === "transcript" ? <Yes words="everything, from the agent’s transcript" /> : null}
      {priorContext?.summary === true ? <Yes words="the summary" /> : null}
      {priorContext === null || priorContext.messages === 0 ? null : (
        <Yes words={`${countText(priorContext.messages, "message")}  in full`} />
      )}
      {priorContext === null || priorContext.effects === 0 ? null : (
        <Yes words={countText(priorContext.effects, "side effect")} />
      )}
      {priorContext === null || priorContext.leftOut === 0 ? null : (
        <span class="no">
          <Icon name="dash" />
          {countText(priorContext.leftOut, "message")}
          {priorContext.more === true ? " and more" : ""} shortened (full text in the log)
        </span>
      )}
      {children}
    </div>
  );
}
