/**
 * A message in the form it has on an edge's wire. The core hands it on untouched and never records it; the edge that
 * made it recognises it by its class.
 */
export abstract class WireMessage {
  /** Keeps the type nominal: nothing else is taken for a message. */
  declare protected readonly isWireMessage: true;

  /** How many bytes it has; null where that is unknown. */
  get size(): number | null {
    return null;
  }
}
