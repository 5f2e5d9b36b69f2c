import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { tellingArgument } from "../../text/telling-argument.ts";

const SHOWN = 6;
const ICONS: Readonly<Record<string, IconName>> = {
  done: "check",
  failed: "x",
  unknown: "unknown",
  not_started: "dash",
};

/** The last things that tools did. */
export function EffectLines({
  conversation,
  headSeq,
}: {
  readonly conversation: string;
  readonly headSeq: number;
}): JSX.Element | null {
  const { value } = useLoaded(
    (signal) => client.listEffects({ conversation }, { signal }),
    [conversation, headSeq],
  );
  const effects = value?.effects.slice(-SHOWN) ?? [];
  if (effects.length === 0) return null;
  return (
    <section>
      <h3 class="caption">Effects</h3>
      <ul class="did">
        {effects.map(({ call, name, input, state }, at) => (
          <li key={`${call} ${at}`} class={state === "unknown" ? "unknown" : ""}>
            <Icon name={ICONS[state] ?? "dash"} />
            <span class="tool">{safeLine(name)}</span>
            <span class="cut">
              {tellingArgument(input)}{" "}
              {state === "done" ? null : <span class="st">· {state.replace("_", " ")}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
