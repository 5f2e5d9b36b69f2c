import { type Fields, fieldsOf } from "#log/json/json-fields";
import type { Usage } from "#log/message";

const MICROS = 1_000_000;

/** What each turn of a session cost. Agents report the cost of the whole session so far. */
export class SessionCost {
  /** The cost that turns were charged for; null: the session is older, and its cost so far is unknown. */
  #charged: number | null;
  #reported: number | null = null;

  constructor(isNew: boolean) {
    this.#charged = isNew ? 0 : null;
  }

  read(update: Fields): void {
    const { amount, currency } = fieldsOf(update["cost"]);
    if (typeof amount === "number" && amount >= 0 && currency === "USD")
      this.#reported = Math.round(amount * MICROS);
  }

  /** The usage of a turn that ended, with its cost where that is known. */
  charge(usage: Usage | null): Usage | null {
    const [before, total] = [this.#charged, this.#reported];
    if (total === null) return usage;
    [this.#charged, this.#reported] = [total, null];
    // A lower total is that of a process that counts from 0 again.
    if (before === null || total < before) return usage;
    const costMicros = total - before;
    return usage === null && costMicros === 0 ? null : { ...usage, costMicros };
  }
}
