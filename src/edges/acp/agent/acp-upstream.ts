import { randomUUID } from "node:crypto";
import { bounded } from "#upstream/sessions/bounded";
import { type Clock, NEVER } from "#conversation/clock";
import {
  type Capabilities,
  type NativeMessage,
  type SessionSettings,
  type TranscriptMessage,
  UpstreamFailure,
} from "#upstream/upstream";
import type { Json } from "#log/json/json-text";
import type { EndingTable } from "#turn/rules/classify";
import type { NativeStore } from "#vendors/native-store";
import type { Dialect } from "#vendors/vendor";
import { type Answer, type Connection, resultOf } from "./connection.ts";
import type { BridgeUpstream, ForwardedRequest } from "#edges/acp/bridge-agents";
import type { Message } from "#edges/acp/wire/spans";
import type { Message as Said } from "#log/message";
import { type HostPort, forwardOn } from "./agent-line.ts";
import { shownOf } from "./session-lines.ts";
import { type AgentSpec, RunningAgent, type Started } from "./running-agent.ts";
import { AcpSessions, SessionRegistry } from "./acp-sessions.ts";
import type { AcpSession } from "./session.ts";
import { type Fields, fieldsOf } from "#log/json/json-fields";

const ASIDE_MS = 10_000;
const HISTORY_MS = 60_000; // as long as a session may take to be resumed: a person waits for it

/** An ACP agent as something that owns sessions: it is started when it is needed and again when it died. */
export class AcpUpstream implements BridgeUpstream {
  readonly agent: string;
  readonly account: string | null;
  readonly native: NativeStore | null;
  readonly commands: readonly Fields[] = [];
  readonly endings: EndingTable;
  readonly #dialect: Dialect;
  readonly #clock: Clock;
  readonly #sessions: AcpSessions;
  readonly #registry: SessionRegistry;
  readonly #running: RunningAgent;
  readonly #records: SessionRecords;

  constructor(spec: AgentSpec, port: HostPort, clock: Clock) {
    this.agent = spec.name;
    this.account = spec.account ?? null;
    this.native = spec.native;
    this.endings = spec.vendor.endings;
    this.#dialect = spec.vendor.dialect;
    this.#clock = clock;
    const registry = new SessionRegistry(port);
    this.#registry = registry;
    this.#records = new SessionRecords(spec.native, clock);
    this.#running = new RunningAgent(spec, {
      introduction: () => port.introduction(),
      onMessage: (connection, message) => registry.receive(connection, message),
      onEnd: (connection) => {
        registry.clear();
        port.agentEnded(connection);
      },
    });
    const parts = { port, clock, running: this.#running, records: this.#records, registry };
    this.#sessions = new AcpSessions(spec, parts);
  }

  readonly toolsElsewhere = true;
  readonly carriesLines = true;

  get capabilities(): Capabilities {
    const { resume, load, fork } = this.#running.can;
    const { keepsPrompt } = this.#dialect;
    return { resume: resume || load, fork: fork ? "head" : "none", trustedResume: false, keepsPrompt };
  }

  /** The ids of the logins it offers; none as long as it has not run. */
  get logins(): readonly string[] {
    return this.#running.can.logins;
  }

  /** The agent, running and introduced. */
  start(): Promise<Started> {
    return this.#running.start();
  }

  async introduce(): Promise<Json> {
    return resultOf((await this.start()).introduced);
  }

  async forward(request: Message): Promise<ForwardedRequest> {
    const { connection } = await this.start();
    return forwardOn(connection, { request, edits: [], inOrder: () => false });
  }

  async notify({ bytes }: Message): Promise<void> {
    (await this.start()).connection.send(bytes);
  }

  async open(settings: SessionSettings): Promise<AcpSession> {
    const { connection } = await this.start();
    return this.#registry.opening(async () => {
      const answer = await this.#running.ask(connection, "session/new", this.#sessions.params(settings, {}));
      return this.#sessions.register({ connection, settings, answer, id: sessionIdOf(answer), isNew: true });
    });
  }

  async fork(id: string, settings: SessionSettings): Promise<AcpSession> {
    const { connection } = await this.start();
    const session = await this.#registry.opening(async () => {
      const answer = await this.#running.ask(
        connection,
        "session/fork",
        this.#sessions.params(settings, { sessionId: id }),
      );
      return this.#sessions.register({
        connection,
        settings,
        answer,
        id: sessionIdOf(answer),
        hasHistory: true,
      });
    });
    // Some write a fork's record with its first prompt only: until then it is what its source's record holds.
    session.transcript =
      (await this.#recordOf(session.id)) ?? session.transcript ?? (await this.#recordOf(id));
    return session;
  }

  /** What its own record of a session shows; null when there is none, or it cannot be read. */
  async #recordOf(id: string): Promise<readonly TranscriptMessage[] | null> {
    const record = await this.native?.read(id).catch(() => null);
    return record == null ? null : shownOf(record);
  }

  async resume(id: string, settings: SessionSettings): Promise<AcpSession> {
    const { connection, can } = await this.start();
    const { native } = this;
    // A session that is open under this id, such as a fork that is not yet in use, is not opened twice.
    await this.#registry.get(id)?.close();
    if (settings.cwd !== null) await native?.move?.(id, settings.cwd);
    const record = native === null ? null : await native.read(id);
    const transcript = record === null ? null : shownOf(record);
    // A missing record proves nothing; the agent may replay its history.
    if (can.resume && (transcript !== null || !can.load)) {
      const answer = await this.#running.ask(
        connection,
        "session/resume",
        this.#sessions.params(settings, { sessionId: id }),
      );
      const session = await this.#sessions.register({ connection, settings, answer, id });
      session.transcript = transcript;
      return session;
    }
    if (!can.load || !this.#sessions.mayReload(id, settings))
      throw new UpstreamFailure({
        class: "lost",
        message: "The agent cannot resume this session now",
        resetAtMs: null,
      });
    return this.#sessions.load(connection, id, { settings, transcript });
  }

  async restore(messages: readonly Said[], settings: SessionSettings): Promise<AcpSession | null> {
    const { native } = this;
    const { cwd } = settings;
    if (native?.write === undefined || cwd === null || !(await this.start()).can.resume) return null;
    const id = await native.write({ cwd, messages, newId: randomUUID, nowMs: this.#clock.nowMs() });
    const session = await this.resume(id, settings);
    const whole = (await native.read(id)) ?? [];
    return whole.length === 0 ? null : session;
  }

  history(id: string): Promise<readonly NativeMessage[] | null> {
    return this.#records.changed(id);
  }

  /** Deletes a session of the agent, if the agent can. */
  async forget(id: string): Promise<void> {
    const { connection, can } = this.#running;
    if (can.delete && connection !== null) {
      const deletion = connection.request("session/delete", JSON.stringify({ sessionId: id }));
      await this.#inTime(deletion).catch(() => undefined);
    }
    // A record that stays would be listed again.
    await this.native?.remove?.(id);
  }

  /** Sessions the agent itself lists; none when it cannot, or does not run. */
  async listSessions(): Promise<Json> {
    const { connection, can } = this.#running;
    if (connection === null || !can.list) return null;
    return resultOf(await this.#inTime(this.#running.ask(connection, "session/list", "{}")));
  }

  /** The history of a session as it tells it itself, for an agent whose records cannot be read. */
  async replayedHistory(id: string, settings: SessionSettings): Promise<readonly TranscriptMessage[]> {
    const { connection, can } = await this.start();
    if (!can.load) return [];
    const load = this.#sessions.load(connection, id, { settings, transcript: null });
    const session = await this.#inTime(load, HISTORY_MS);
    await session.close();
    return session.transcript ?? [];
  }

  /** A host's request that the agent is only asked about in passing does not wait for it for ever. */
  #inTime<T>(work: Promise<T>, resumeMs: number = ASIDE_MS): Promise<T> {
    return bounded({ clock: this.#clock, resumeMs, cancelled: NEVER }, work);
  }

  /** The session that is held for a conversation, in a turn or between two. */
  sessionOf(conversation: string): AcpSession | null {
    return this.#running.connection === null ? null : this.#registry.of(conversation);
  }

  /** A process keeps closed sessions in memory until it ends. Work in progress continues. */
  async yieldSession(conversation: string): Promise<void> {
    if (this.#dialect.inUseReason === null || this.sessionOf(conversation) === null) return;
    if (![...this.#registry.all].some(({ atWork }) => atWork)) await this.#running.end(null);
  }

  turnEnded(id: string): Promise<void> {
    return this.#records.turnEnded(id);
  }

  restart(process: string | null): Promise<void> {
    return this.#running.end(process);
  }

  /** Ends the agent for good: nothing starts it again. */
  stop(): Promise<void> {
    return this.#running.stop();
  }

  describeCall(): Fields {
    return {};
  }

  async restored(): Promise<null> {
    return null;
  }

  pause(paused: boolean): void {
    this.#running.connection?.process.pause(paused);
  }
}

function sessionIdOf(answer: Answer): string {
  const { sessionId } = fieldsOf(resultOf(answer));
  return typeof sessionId === "string" ? sessionId : "";
}

const RECORD_MS = 2_000; // how long a stopped turn waits for the agent's record

/** The agent's records of its sessions, and which parts of them are known here. */
export class SessionRecords {
  readonly #native: NativeStore | null;
  readonly #clock: Clock;
  /** How each record stood when its last turn here had ended. */
  readonly #stamps = new Map<string, string>();

  constructor(native: NativeStore | null, clock: Clock) {
    this.#native = native;
    this.#clock = clock;
  }

  /** The record of a session that another program has changed; null when none has. */
  async changed(id: string): Promise<readonly NativeMessage[] | null> {
    const native = this.#native;
    const stamp = native === null ? null : await native.stamp(id);
    if (native === null || stamp === null || stamp === this.#stamps.get(id)) return null;
    return native.read(id);
  }

  /** A turn ended normally here: everything the record holds now is known. */
  async turnEnded(id: string): Promise<void> {
    const stamp = await this.#native?.stamp(id).catch(() => null);
    if (typeof stamp === "string") this.#stamps.set(id, stamp);
  }

  /** The record after a turn that was cut off by the agent's death or by a stop. */
  async afterCut(
    connection: Connection,
    id: string,
    cause: "dead" | "stopped",
  ): Promise<readonly NativeMessage[] | null> {
    const native = this.#native;
    if (native === null) return null;
    // What a dead one was about to write is written, or will never be; one that lives may write on: see `changed`.
    if (cause === "dead") await connection.process.end();
    const stamp = await native.stamp(id);
    const limits = { clock: this.#clock, resumeMs: RECORD_MS, cancelled: NEVER };
    const messages = await bounded(limits, native.read(id));
    if (stamp !== null) this.#stamps.set(id, stamp);
    return messages;
  }
}
