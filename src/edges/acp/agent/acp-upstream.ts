import { randomUUID } from "node:crypto";
import { bounded } from "#sending/sessions/bounded";
import type { Clock } from "#conversation/clock";
import {
  type Capabilities,
  type NativeMessage,
  type SessionSettings,
  type ShownMessage,
  UpstreamFailure,
} from "#sending/upstream";
import type { Message as Said } from "#log/message";
import { type Json, membersOf, objectText, withMember } from "#log/json/json-text";
import type { EndingTable } from "#turn/rules/classify";
import type { NativeStore } from "#vendors/records/native-store";
import type { Dialect } from "#vendors/vendor";
import { type Answer, type Connection, ConnectionEnded, resultOf } from "./process/connection.ts";
import { goneIdentity } from "./process/process-group.ts";
import type { BridgeUpstream, ForwardedRequest } from "#edges/acp/bridge-upstream";
import type { Message } from "#edges/acp/wire/spans";
import { forwardOn } from "./forward-on.ts";
import type { HostPort } from "./host-port.ts";
import { shownOf } from "./replayed-history.ts";
import { type AgentSpec, RunningAgent, type Started } from "./process/running-agent.ts";
import { SessionRegistry } from "./session-registry.ts";
import { AcpSession } from "./session.ts";
import { replaySettings } from "./apply-settings.ts";
import { fieldsOf } from "#log/json/json-fields";
import { choicesFor } from "#log/projections/config";

const CLOSE_MS = 2_000;
const ASIDE_MS = 10_000;
const RECORD_MS = 2_000; // who has stopped a turn waits no longer for what the agent wrote down of it
const NEVER = new AbortController().signal;

/** An ACP agent as something that owns sessions: it is started when it is needed and again when it died. */
export class AcpUpstream implements BridgeUpstream {
  readonly agent: string;
  readonly account: string | null;
  readonly native: NativeStore | null;
  readonly endings: EndingTable;
  readonly #dialect: Dialect;
  readonly #port: HostPort;
  readonly #clock: Clock;
  readonly #sessions: SessionRegistry;
  readonly #running: RunningAgent;
  /** How each transcript stood when its last turn here had ended. */
  readonly #stamps = new Map<string, string>();
  readonly #window: { tokens: number };
  /** When each session was last begun or loaded here. */
  readonly #begun = new Map<string, number>();

  constructor(spec: AgentSpec, port: HostPort, clock: Clock) {
    this.agent = spec.name;
    this.account = spec.account ?? null;
    this.native = spec.native;
    this.endings = spec.vendor.endings;
    this.#dialect = spec.vendor.dialect;
    this.#port = port;
    this.#clock = clock;
    this.#window = { tokens: this.#dialect.windowTokens };
    this.#sessions = new SessionRegistry(port);
    this.#running = new RunningAgent(spec, {
      introduction: () => port.introduction(),
      onMessage: (connection, message) => this.#sessions.receive(connection, message),
      onEnd: (connection) => {
        this.#sessions.clear();
        port.agentEnded(connection);
      },
    });
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
    return this.#sessions.opening(async () => {
      const answer = await this.#running.ask(connection, "session/new", this.#params(settings, {}));
      return this.#register({ connection, settings, answer, id: sessionIdOf(answer) });
    });
  }

  async fork(id: string, settings: SessionSettings): Promise<AcpSession> {
    const { connection } = await this.start();
    return this.#sessions.opening(async () => {
      const answer = await this.#running.ask(
        connection,
        "session/fork",
        this.#params(settings, { sessionId: id }),
      );
      return this.#register({ connection, settings, answer, id: sessionIdOf(answer), hasHistory: true });
    });
  }

  async resume(id: string, settings: SessionSettings): Promise<AcpSession> {
    const { connection, can } = await this.start();
    const { native } = this;
    // One that is held under this id, such as a fork nobody has taken up yet, is not resumed beside itself.
    await this.#sessions.get(id)?.close();
    if (settings.cwd !== null) await native?.move?.(id, settings.cwd);
    const record = native === null ? null : await native.read(id);
    const kept = record === null ? null : shownOf(record);
    // A record that is not where it should be proves nothing; the agent may show what it has.
    if (can.resume && (kept !== null || !can.load)) {
      const answer = await this.#running.ask(
        connection,
        "session/resume",
        this.#params(settings, { sessionId: id }),
      );
      const session = await this.#register({ connection, settings, answer, id });
      session.shown = kept;
      return session;
    }
    if (!can.load || !this.#mayReload(id, settings))
      throw new UpstreamFailure({
        class: "lost",
        message: "The agent cannot resume this session now",
        resetAtMs: null,
      });
    return this.#load(connection, id, { settings, kept });
  }

  /** Whether loading a session leaves its record whole. */
  #mayReload(id: string, { usedAt }: SessionSettings): boolean {
    const { reloadAfterMs } = this.#dialect;
    if (reloadAfterMs === 0) return true;
    const lastMs = Math.max(this.#begun.get(id) ?? 0, usedAt === null ? 0 : Date.parse(usedAt));
    return this.#clock.nowMs() - lastMs >= reloadAfterMs;
  }

  /** The history comes as updates, some of them after the answer. */
  async #load(
    connection: Connection,
    id: string,
    at: { readonly settings: SessionSettings; readonly kept: readonly ShownMessage[] | null },
  ): Promise<AcpSession> {
    const { settings } = at;
    const session = this.#session(connection, id, settings);
    const replay = session.replay();
    this.#sessions.add(session);
    try {
      const answer = await this.#running.ask(
        connection,
        "session/load",
        this.#params(settings, { sessionId: id }),
      );
      if (this.#dialect.replaysLate) await replay.quiet(this.#clock);
      session.shown = at.kept ?? replay.messages;
      await this.#applySettings(session, answer, settings);
      return session;
    } catch (error) {
      this.#sessions.remove(session);
      throw error;
    }
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

  async history(id: string): Promise<readonly NativeMessage[] | null> {
    const { native } = this;
    const stamp = native === null ? null : await native.stamp(id);
    if (native === null || stamp === null || stamp === this.#stamps.get(id)) return null;
    return native.read(id);
  }

  /** Deletes a session of the agent's, where it can; what it cannot stays its own affair. */
  async forget(id: string): Promise<void> {
    const { connection, can } = this.#running;
    if (can.delete && connection !== null) {
      const asked = connection.request("session/delete", JSON.stringify({ sessionId: id }));
      await this.#inTime(asked).catch(() => undefined);
    }
    // What it left would be listed again.
    await this.native?.remove?.(id);
  }

  /** Sessions the agent itself lists; none when it cannot, or does not run. */
  async listed(): Promise<Json> {
    const { connection, can } = this.#running;
    if (connection === null || !can.list) return null;
    return resultOf(await this.#inTime(this.#running.ask(connection, "session/list", "{}")));
  }

  /** The history of a session as it tells it itself, for an agent whose records cannot be read. */
  async told(id: string, settings: SessionSettings): Promise<readonly ShownMessage[]> {
    const { connection, can } = await this.start();
    if (!can.load) return [];
    const session = await this.#inTime(this.#load(connection, id, { settings, kept: null }));
    await session.close();
    return session.shown ?? [];
  }

  /** A host's request that the agent is only asked about in passing does not wait for it for ever. */
  #inTime<T>(work: Promise<T>, resumeMs: number = ASIDE_MS): Promise<T> {
    return bounded({ clock: this.#clock, resumeMs, cancelled: NEVER }, work);
  }

  /** The session that is held for a conversation, in a turn or between two. */
  sessionOf(conversation: string): AcpSession | null {
    return this.#running.connection === null ? null : this.#sessions.of(conversation);
  }

  /** A turn has ended here in its own time: what the transcript holds now is what we know. */
  async turnEnded(id: string): Promise<void> {
    const stamp = await this.native?.stamp(id).catch(() => null);
    if (typeof stamp === "string") this.#stamps.set(id, stamp);
  }

  restart(process: string | null): Promise<void> {
    return this.#running.end(process);
  }

  /** Ends the agent for good: nothing starts it again. */
  stop(): Promise<void> {
    return this.#running.stop();
  }

  pause(paused: boolean): void {
    this.#running.connection?.process.pause(paused);
  }

  /** What the host gave for the session, with our folder and the agent's id. */
  #params(settings: SessionSettings, ids: { readonly sessionId?: string }): string {
    const own = { ...ids, ...(settings.cwd === null ? {} : { cwd: settings.cwd }) };
    const names = new Set(["sessionId", "history", ...Object.keys(own)]);
    const given = membersOf(this.#port.sessionParams(settings)).filter(({ name }) => !names.has(name));
    const ours = Object.entries(own).map(([name, value]) => ({ name, text: JSON.stringify(value) }));
    return this.#withProgramMessages(objectText([...ours, ...given]));
  }

  /** Asks for what the agent's program says itself, unless the host asks for it. */
  #withProgramMessages(params: string): string {
    const { programMessages } = this.#dialect;
    if (programMessages === null) return params;
    return withMember(params, programMessages.ask.path, programMessages.ask.text);
  }

  #session(connection: Connection, id: string, settings: SessionSettings): AcpSession {
    const { identity } = connection.process;
    const params = this.#port.sessionParams(settings);
    return new AcpSession({
      hidesProgramMessages: this.#withProgramMessages(params) !== params,
      id,
      conversation: settings.conversation,
      connection,
      dialect: this.#dialect,
      port: this.#port,
      nowMs: () => this.#clock.nowMs(),
      process: () => (this.#running.connection === connection ? identity : goneIdentity(identity)),
      record: (how) => this.#record(connection, id, how),
      onClose: (session) => this.#close(connection, session),
      window: this.#window,
    });
  }

  async #record(
    connection: Connection,
    id: string,
    how: "dead" | "stopped",
  ): Promise<readonly NativeMessage[] | null> {
    const { native } = this;
    if (native === null) return null;
    // What a dead one was about to write is written, or will never be; one that lives may write on: see `history`.
    if (how === "dead") await connection.process.end();
    const stamp = await native.stamp(id);
    const messages = await this.#inTime(native.read(id), RECORD_MS);
    if (stamp !== null) this.#stamps.set(id, stamp);
    return messages;
  }

  /** Takes up a session that a call has made; what the agent said of it before the answer was kept. */
  async #register(at: {
    readonly connection: Connection;
    readonly settings: SessionSettings;
    readonly answer: Answer;
    readonly id: string;
    readonly hasHistory?: boolean;
  }): Promise<AcpSession> {
    const session = this.#session(at.connection, at.id, at.settings);
    if (at.hasHistory === true) session.replay();
    this.#sessions.add(session);
    await this.#applySettings(session, at.answer, at.settings);
    return session;
  }

  /** Agents forget modes and options with every new session, so they are told again. */
  async #applySettings(session: AcpSession, answer: Answer, settings: SessionSettings): Promise<void> {
    const { modes = null, configOptions = null } = fieldsOf(resultOf(answer));
    this.#begun.set(session.id, this.#clock.nowMs());
    session.opened = answer.message;
    session.options.begin(modes, configOptions);
    const chosen = choicesFor(settings.config, this.agent);
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
    if (!this.#sessions.remove(session)) return;
    if (this.#running.can.close && (await this.#askClose(connection, session))) return;
    const others = [...this.#sessions.all].some((other) => other.connection === connection && other.atWork);
    if (session.atWork && !others) await connection.process.end();
  }

  /** Whether the agent said that it has closed the session. */
  async #askClose(connection: Connection, session: AcpSession): Promise<boolean> {
    const asked = connection.request("session/close", `{"sessionId":${JSON.stringify(session.id)}}`);
    return this.#inTime(asked, CLOSE_MS).then(
      ({ error }) => error === null,
      () => false,
    );
  }
}

function sessionIdOf(answer: Answer): string {
  const { sessionId } = fieldsOf(resultOf(answer));
  return typeof sessionId === "string" ? sessionId : "";
}
