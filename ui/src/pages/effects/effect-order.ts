import type { Api } from "#edges/http/client/index";

export type ListedEffect = Api["listEffects"]["response"]["effects"][number];
export type EffectState = ListedEffect["state"];

/** Those that need a person first. */
export const STATES: readonly EffectState[] = ["unknown", "failed", "not_started", "done"];

export interface PlacedEffect {
  readonly effect: ListedEffect;
  /** Among all of the conversation, in the order of the calls. */
  readonly place: number;
}

/** Of one state or all: what is unknown first, and within a state the latest first. */
export function effectRows(
  effects: readonly ListedEffect[],
  state: EffectState | null,
): readonly PlacedEffect[] {
  const placed = effects.map((effect, place) => ({ effect, place }));
  return placed
    .filter(({ effect }) => state === null || effect.state === state)
    .toSorted((a, b) => STATES.indexOf(a.effect.state) - STATES.indexOf(b.effect.state) || b.place - a.place);
}

export function countsOf(effects: readonly ListedEffect[]): Readonly<Record<EffectState, number>> {
  const counts = { unknown: 0, failed: 0, not_started: 0, done: 0 };
  for (const { state } of effects) counts[state]++;
  return counts;
}
