export interface Sent {
  readonly identity: string;
  readonly atMs: number;
  readonly session: string;
}

/** Every side effect that reached the world, whoever caused it. */
export class Outbox {
  readonly #sent: Sent[] = [];

  add(sent: Sent): void {
    this.#sent.push(sent);
  }

  get all(): readonly Sent[] {
    return this.#sent;
  }

  /** How often this one happened. */
  count(identity: string): number {
    return this.#sent.filter((sent) => sent.identity === identity).length;
  }

  /** What happened more than once. */
  doubles(): readonly string[] {
    const counts = Map.groupBy(this.#sent, (sent) => sent.identity);
    return [...counts].filter(([, sent]) => sent.length > 1).map(([identity]) => identity);
  }
}
