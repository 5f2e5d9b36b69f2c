import type { JSX } from "preact";
import { tokensText } from "../../parts/numbers.ts";

export interface UsageCard {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

interface Counted {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** What went in, fresh or from a cache, and how much of it was from there. */
export function inputCard(all: Counted): UsageCard {
  const sent = all.inputTokens + all.cacheReadTokens + all.cacheWriteTokens;
  const more = sent === 0 ? "" : `${Math.round((all.cacheReadTokens / sent) * 100)} % from cache`;
  return { name: "Tokens in", value: tokensText(sent), more };
}

export function UsageCards({ cards }: { readonly cards: readonly UsageCard[] }): JSX.Element {
  return (
    <dl class="cards">
      {cards.map(({ name, value, more = "" }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value} {more === "" ? null : <span class="sub">{more}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
