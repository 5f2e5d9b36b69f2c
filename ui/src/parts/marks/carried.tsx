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
      {fidelity === "native" ? <Yes words="the agent brought its own memory along" /> : null}
      {fidelity === "transcript" ? <Yes words="everything, as the agent’s own transcript" /> : null}
      {priorContext?.summary === true ? <Yes words="the summary" /> : null}
      {priorContext === null || priorContext.messages === 0 ? null : (
        <Yes words={`${countText(priorContext.messages, "message")} word for word`} />
      )}
      {priorContext === null || priorContext.effects === 0 ? null : (
        <Yes words={countText(priorContext.effects, "effect")} />
      )}
      {priorContext === null || priorContext.leftOut === 0 ? null : (
        <span class="no">
          <Icon name="dash" />
          {countText(priorContext.leftOut, "message")}
          {priorContext.more === true ? " and more" : ""} in outline only; in the log whole
        </span>
      )}
      {children}
    </div>
  );
}
