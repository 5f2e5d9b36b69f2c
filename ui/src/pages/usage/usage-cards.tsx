import type { JSX } from "preact";
import { type InputTokens, tokensIn, tokensText } from "../../parts/numbers.ts";

export interface UsageCard {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

/** What went in, fresh or from a cache, and how much of it was from there. */
export function inputCard(all: InputTokens): UsageCard {
  const sent = tokensIn(all);
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
