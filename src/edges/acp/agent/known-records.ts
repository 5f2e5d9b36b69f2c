import { bounded } from "#upstream/sessions/bounded";
import { type Clock, NEVER } from "#conversation/clock";
import type { NativeMessage } from "#upstream/upstream";
import type { NativeStore } from "#vendors/records/native-store";
import type { Connection } from "./process/connection.ts";

const RECORD_MS = 2_000; // who has stopped a turn waits no longer for what the agent wrote down of it

/** What an agent has written down of its sessions, and how much of it is known here. */
export class KnownRecords {
  readonly #native: NativeStore | null;
  readonly #clock: Clock;
  /** How each record stood when its last turn here had ended. */
  readonly #stamps = new Map<string, string>();

  constructor(native: NativeStore | null, clock: Clock) {
    this.#native = native;
    this.#clock = clock;
  }

  /** The record of a session that somebody else has written to; null when nobody has. */
  async changed(id: string): Promise<readonly NativeMessage[] | null> {
    const native = this.#native;
    const stamp = native === null ? null : await native.stamp(id);
    if (native === null || stamp === null || stamp === this.#stamps.get(id)) return null;
    return native.read(id);
  }

  /** A turn has ended here in its own time: what the record holds now is what we know. */
  async turnEnded(id: string): Promise<void> {
    const stamp = await this.#native?.stamp(id).catch(() => null);
    if (typeof stamp === "string") this.#stamps.set(id, stamp);
  }

  /** What it holds after a turn that was cut off, by the agent's death or by a stop. */
  async afterCut(
    connection: Connection,
    id: string,
    how: "dead" | "stopped",
  ): Promise<readonly NativeMessage[] | null> {
    const native = this.#native;
    if (native === null) return null;
    // What a dead one was about to write is written, or will never be; one that lives may write on: see `changed`.
    if (how === "dead") await connection.process.end();
    const stamp = await native.stamp(id);
    const limits = { clock: this.#clock, resumeMs: RECORD_MS, cancelled: NEVER };
    const messages = await bounded(limits, native.read(id));
    if (stamp !== null) this.#stamps.set(id, stamp);
    return messages;
  }
}
