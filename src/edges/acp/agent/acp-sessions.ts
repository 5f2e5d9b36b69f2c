import { bounded } from "#upstream/sessions/bounded";
import { type Clock, NEVER } from "#conversation/clock";
import type { SessionSettings, TranscriptMessage } from "#upstream/upstream";
import { membersOf, objectText, withMember } from "#log/json/json-text";
import type { Dialect } from "#vendors/vendor";
import { type Answer, type Connection, ConnectionEnded, resultOf } from "./connection.ts";
import { goneIdentity } from "#turn/effects/process-group";
import { AgentLine, type HostPort } from "./agent-line.ts";
import type { AgentSpec, RunningAgent } from "./running-agent.ts";
import { SessionCost } from "./turn-end.ts";
import { AcpSession } from "./session.ts";
import type { SessionRecords } from "./acp-upstream.ts";
import { replaySettings } from "./session-options.ts";
import { fieldsOf } from "#log/json/json-fields";
import { choicesFor } from "#log/projections/config";
import { type Message, stringAt } from "#edges/acp/wire/spans";

const CLOSE_MS = 2_000;

interface AcpSessionsParts {
  readonly port: HostPort;
  readonly clock: Clock;
  readonly running: RunningAgent;
  readonly records: SessionRecords;
  readonly registry: SessionRegistry;
}

interface SessionPlace {
  readonly connection: Connection;
  readonly id: string;
  readonly settings: SessionSettings;
  /** The agent made it just now. */
  readonly isNew?: boolean;
}

/** Creates the sessions of an agent from its answers, and closes them. */
export class AcpSessions {
  readonly #registry: SessionRegistry;
  readonly #agent: string;
  readonly #dialect: Dialect;
  readonly #port: HostPort;
  readonly #clock: Clock;
  readonly #running: RunningAgent;
  readonly #records: SessionRecords;
  readonly #window: { tokens: number };
  /** When each session was last created or loaded here. */
  readonly #startTimes = new Map<string, number>();

  constructor(spec: AgentSpec, parts: AcpSessionsParts) {
    this.#agent = spec.name;
    this.#dialect = spec.vendor.dialect;
    this.#window = { tokens: this.#dialect.windowTokens };
    this.#port = parts.port;
    this.#clock = parts.clock;
    this.#running = parts.running;
    this.#records = parts.records;
    this.#registry = parts.registry;
  }

  /** Whether loading a session leaves its record whole. */
  mayReload(id: string, { usedAt }: SessionSettings): boolean {
    const { reloadAfterMs } = this.#dialect;
    if (reloadAfterMs === 0) return true;
    const startMs = this.#startTimes.get(id);
    const isFresh = startMs !== undefined && this.#clock.steadyMs() - startMs < reloadAfterMs;
    // By the log's time, which another process may have written.
    const isUsed = usedAt !== null && this.#clock.nowMs() - Date.parse(usedAt) < reloadAfterMs;
    return !isFresh && !isUsed;
  }

  /** The history comes as updates, some of them after the answer. */
  async load(
    connection: Connection,
    id: string,
    start: { readonly settings: SessionSettings; readonly transcript: readonly TranscriptMessage[] | null },
  ): Promise<AcpSession> {
    const { settings, transcript } = start;
    const session = this.#session({ connection, id, settings });
    const replay = session.replay();
    this.#registry.add(session);
    try {
      const answer = await this.#running.ask(
        connection,
        "session/load",
        this.params(settings, { sessionId: id }),
      );
      if (this.#dialect.replaysLate) await replay.quiet(this.#clock);
      session.transcript = transcript ?? replay.messages;
      await this.#applySettings(session, answer, settings);
      return session;
    } catch (error) {
      this.#registry.remove(session);
      throw error;
    }
  }

  /** The host's params for the session, with our folder and the agent's id. */
  params(settings: SessionSettings, ids: { readonly sessionId?: string }): string {
    const own = { ...ids, ...(settings.cwd === null ? {} : { cwd: settings.cwd }) };
    const names = new Set(["sessionId", "history", ...Object.keys(own)]);
    const hostParams = membersOf(this.#port.sessionParams(settings)).filter(({ name }) => !names.has(name));
    const ours = Object.entries(own).map(([name, value]) => ({ name, text: JSON.stringify(value) }));
    return this.#withProgramMessages(objectText([...ours, ...hostParams]));
  }

  /** Subscribes to the messages of the agent's program, unless the host does. */
  #withProgramMessages(params: string): string {
    const { programMessages } = this.#dialect;
    if (programMessages === null) return params;
    return withMember(params, programMessages.ask.path, programMessages.ask.text);
  }

  #session({ connection, id, settings, isNew = false }: SessionPlace): AcpSession {
    const { identity } = connection.process;
    const params = this.#port.sessionParams(settings);
    return new AcpSession({
      hidesProgramMessages: this.#withProgramMessages(params) !== params,
      id,
      conversation: settings.conversation,
      cost: new SessionCost(isNew),
      connection,
      dialect: this.#running.dialect,
      port: this.#port,
      nowMs: () => this.#clock.nowMs(),
      process: () => (this.#running.connection === connection ? identity : goneIdentity(identity)),
      record: (cause) => this.#records.afterCut(connection, id, cause),
      onClose: (session) => this.#close(connection, session),
      window: this.#window,
    });
  }

  /** Registers a new session. Lines that the agent sent about it before its answer were kept. */
  async register(
    place: SessionPlace & {
      readonly answer: Answer;
      readonly hasHistory?: boolean;
    },
  ): Promise<AcpSession> {
    const session = this.#session(place);
    const replay = place.hasHistory === true ? session.replay() : null;
    this.#registry.add(session);
    await this.#applySettings(session, place.answer, place.settings);
    // Few agents tell a fork's history again; from the others nothing is heard.
    if (replay !== null && replay.messages.length > 0) session.transcript = replay.messages;
    return session;
  }

  /** Agents lose modes and options with every new session, so they are set again. */
  async #applySettings(session: AcpSession, answer: Answer, settings: SessionSettings): Promise<void> {
    this.#startTimes.set(session.id, this.#clock.steadyMs());
    session.openAnswer = answer.message;
    session.options.begin(fieldsOf(resultOf(answer)));
    const chosen = choicesFor(settings.config, this.#agent);
    await replaySettings(session, chosen).catch((error: unknown) => {
      if (!(error instanceof ConnectionEnded)) throw error;
      throw this.#running.gone(session.connection, error);
    });
  }

  /**
   * An agent that does not answer is not waited for. One that is still at a prompt nobody reads any more, and does not
   * let go of it, is ended: its tools would go on behind everybody's back. Other turns in it are not sacrificed.
   */
  async #close(connection: Connection, session: AcpSession): Promise<void> {
    if (!this.#registry.remove(session)) return;
    if (this.#running.can.close && (await this.#askClose(connection, session))) return;
    const isShared = [...this.#registry.all].some((other) => other.connection === connection && other.atWork);
    if (session.atWork && !isShared) await connection.process.end();
  }

  /** Whether the agent confirmed that it closed the session. */
  async #askClose(connection: Connection, session: AcpSession): Promise<boolean> {
    const closing = connection.request("session/close", `{"sessionId":${JSON.stringify(session.id)}}`);
    const limits = { clock: this.#clock, resumeMs: CLOSE_MS, cancelled: NEVER };
    return bounded(limits, closing).then(
      ({ error }) => error === null,
      () => false,
    );
  }
}

const UNCLAIMED_MAX = 1_000; // lines of a history that come before its id is known; later ones are dropped

/** Which session a line of the agent is about. */
export class SessionRegistry {
  readonly #port: HostPort;
  readonly #sessions = new Map<string, AcpSession>();
  #unclaimed: Message[] = [];
  #opening: number = 0;
  /** The session that sent the last line: lines about no session keep their place after it. */
  #speaker: AcpSession | null = null;

  constructor(port: HostPort) {
    this.#port = port;
  }

  /** While a session is being created, lines with an unknown id are kept. */
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

  /** Lines of a dead or forgotten session are dropped. */
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
  return stringAt(message.bytes, message.param("sessionId"));
}
