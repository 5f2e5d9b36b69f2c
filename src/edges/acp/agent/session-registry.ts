import { type Message, spanAt, stringAt } from "#edges/acp/wire/spans";
import type { Connection } from "./process/connection.ts";
import { AgentLine, type HostPort } from "./host-port.ts";
import type { AcpSession } from "./session.ts";

const UNCLAIMED_MAX = 1_000; // a history that is told before its id is known; more than that is not waited for

/** Which session a line of the agent is about. */
export class SessionRegistry {
  readonly #port: HostPort;
  readonly #sessions = new Map<string, AcpSession>();
  #unclaimed: Message[] = [];
  #opening: number = 0;
  /** The session that spoke last: what is about no session keeps its place behind it. */
  #speaker: AcpSession | null = null;

  constructor(port: HostPort) {
    this.#port = port;
  }

  /** While a session is being made, what is said of an id nobody knows yet is kept. */
  async opening<T>(work: () => Promise<T>): Promise<T> {
    this.#opening++;
    try {
      return await work();
    } finally {
      this.#opening--;
      if (this.#opening === 0) this.#unclaimed = [];
    }
  }

  add(session: AcpSession): void {
    this.#sessions.set(session.id, session);
    const early = this.#unclaimed.filter((message) => idIn(message) === session.id);
    this.#unclaimed = this.#unclaimed.filter((message) => idIn(message) !== session.id);
    for (const message of early) session.receive(message);
  }

  /** False when another session goes by its id by now. */
  remove(session: AcpSession): boolean {
    if (this.#sessions.get(session.id) !== session) return false;
    this.#sessions.delete(session.id);
    return true;
  }

  get(id: string): AcpSession | null {
    return this.#sessions.get(id) ?? null;
  }

  /** The session that was last made for a conversation. */
  of(conversation: string): AcpSession | null {
    return [...this.#sessions.values()].findLast((session) => session.conversation === conversation) ?? null;
  }

  get all(): Iterable<AcpSession> {
    return this.#sessions.values();
  }

  clear(): void {
    this.#sessions.clear();
    this.#unclaimed = [];
    this.#speaker = null;
  }

  /** What a dead or forgotten session says reaches nobody. */
  receive(connection: Connection, message: Message): void {
    const id = idIn(message);
    const session = id === null ? null : this.#sessions.get(id);
    if (session === null) {
      const line = new AgentLine({ connection, message, session: null });
      if (this.#speaker?.receiveBeside(line) !== true) this.#port.forward(line);
    } else if (session !== undefined) {
      this.#speaker = session;
      session.receive(message);
    } else if (this.#opening > 0 && this.#unclaimed.length < UNCLAIMED_MAX) this.#unclaimed.push(message);
  }
}

function idIn(message: Message): string | null {
  const { bytes, params } = message;
  return params === null ? null : stringAt(bytes, spanAt(bytes, params, ["sessionId"]));
}
