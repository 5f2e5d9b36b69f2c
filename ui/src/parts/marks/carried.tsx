import type { ComponentChildren, JSX } from "preact";
import type { Fidelity, ToldContext } from "#log/entry";
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
  told,
  fidelity,
  children,
}: {
  readonly told: ToldContext | null;
  readonly fidelity: Fidelity | null;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="carried">
      {fidelity === "native" ? <Yes words="the agent brought its own memory along" /> : null}
      {fidelity === "transcript" ? <Yes words="everything, as the agent’s own transcript" /> : null}
      {told?.summary === true ? <Yes words="the summary" /> : null}
      {told === null || told.messages === 0 ? null : (
        <Yes words={`${countText(told.messages, "message")} word for word`} />
      )}
      {told === null || told.effects === 0 ? null : <Yes words={countText(told.effects, "effect")} />}
      {told === null || told.leftOut === 0 ? null : (
        <span class="no">
          <Icon name="dash" />
          {countText(told.leftOut, "message")}
          {told.more === true ? " and more" : ""} in outline only; in the log whole
        </span>
      )}
      {children}
    </div>
  );
}
