import { type Signal, signal } from "@preact/signals";

interface OpenCards {
  /** What all cards were last set to; null: each is as it comes. */
  readonly all: boolean | null;
  readonly some: ReadonlyMap<string, boolean>;
}

const cards: Signal<OpenCards> = signal({ all: null, some: new Map() });

/** Whether a card is open, also when it was away from the screen in between. */
export function isCardOpen(card: string, first: boolean): boolean {
  return cards.value.some.get(card) ?? cards.value.all ?? first;
}

export function setCardOpen(card: string, isOpen: boolean): void {
  cards.value = { ...cards.value, some: new Map(cards.value.some).set(card, isOpen) };
}

export function toggleAllCards(): void {
  cards.value = { all: cards.value.all !== true, some: new Map() };
}
