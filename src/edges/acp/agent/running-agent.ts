import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import { UpstreamFailure } from "#upstream/upstream";
import { classifyEnd } from "#turn/rules/classify";
import type { Ending } from "#turn/rules/ending";
import type { NativeStore } from "#vendors/native-store";
import type { Message } from "#edges/acp/wire/spans";
import {
  type AgentCommand,
  type Answer,
  Connection,
  ConnectionEnded,
  type RpcError,
  resultOf,
} from "./connection.ts";
import { dialectOf, tooOld } from "#vendors/adapters";
import type { Dialect, Vendor } from "#vendors/vendor";
import { endGroup, readIdentity } from "#turn/effects/process-group";
import type { Json } from "#log/json/json-text";

export interface AgentSpec {
  readonly name: string;
  readonly vendor: Vendor;
  readonly command: AgentCommand;
  /** The account whose login the agent uses, where the user named it. */
  readonly account?: string;
  /** The agent's records on disk, where they can be read. */
  readonly native: NativeStore | null;
}

export interface Started {
  readonly connection: Connection;
  readonly can: AgentCan;
  /** Its answer to `initialize`. */
  readonly introduced: Answer;
}

interface AgentEvents {
  /** The params of `initialize`. */
  introduction(): string;
  onMessage(connection: Connection, message: Message): void;
  onEnd(connection: Connection): void;
}

const STOPPED: Ending = { class: "failed", message: "The bridge is closing", resetAtMs: null };

const INTRODUCTION_MS = 120_000; // the slowest known takes five seconds, and a package may have to be fetched first

/** The process of an agent: started and introduced when it is needed, and again when it died. */
export class RunningAgent {
  readonly #spec: AgentSpec;
  readonly #events: AgentEvents;
  #started: Promise<Started> | null = null;
  #connection: Connection | null = null;
  #can: AgentCan;
  #dialect: Dialect;
  #stopped: boolean = false;

  constructor(spec: AgentSpec, events: AgentEvents) {
    this.#spec = spec;
    this.#events = events;
    this.#dialect = spec.vendor.dialect;
    this.#can = { ...UNASKED, resume: spec.vendor.dialect.resumes, fork: spec.vendor.dialect.forks };
  }

  /** The agent's capabilities; until it was asked, those of its kind. */
  get can(): AgentCan {
    return this.#can;
  }

  /** How the version that runs speaks. */
  get dialect(): Dialect {
    return this.#dialect;
  }

  get connection(): Connection | null {
    return this.#connection;
  }

  start(): Promise<Started> {
    if (this.#stopped) return Promise.reject(new UpstreamFailure(STOPPED));
    if (this.#started !== null) return this.#started;
    const starting = this.#begin();
    this.#started = starting;
    // The next caller tries again, unless another has started it meanwhile.
    starting.catch(() => {
      if (this.#started === starting) this.#started = null;
    });
    return starting;
  }

  async #begin(): Promise<Started> {
    const connection = await this.#connect();
    try {
      if (this.#stopped) throw new UpstreamFailure(STOPPED);
      const introduced = await this.#introduce(connection);
      const result = resultOf(introduced);
      const message = tooOld(this.#spec.vendor, result);
      if (message !== null) throw new UpstreamFailure({ class: "failed", message, resetAtMs: null });
      this.#can = agentCan(result);
      this.#dialect = dialectOf(this.#spec.vendor, result);
      return { connection, can: this.#can, introduced };
    } catch (error) {
      // One that does not introduce itself is not left running beside the next.
      await this.end(connection.process.identity).catch(() => undefined);
      this.#forget(connection);
      throw error;
    }
  }

  async #connect(): Promise<Connection> {
    const { command } = this.#spec;
    try {
      const connection: Connection = await Connection.start(command, {
        onMessage: (message) =>
          this.#connection !== null && this.#events.onMessage(this.#connection, message),
        onEnd: () => this.#forget(connection),
      });
      this.#connection = connection;
      return connection;
    } catch (error) {
      throw this.#useless(error instanceof Error ? error.message : String(error));
    }
  }

  /** The error for an agent that does not answer or exits, with a hint. */
  async #introduce(connection: Connection): Promise<Answer> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(this.#useless(`it did not answer initialize within ${INTRODUCTION_MS / 1_000} s`)),
      INTRODUCTION_MS,
    );
    try {
      return await Promise.race([
        this.ask(connection, "initialize", this.#events.introduction()),
        late.promise,
      ]);
    } catch (error) {
      const hasExited = error instanceof UpstreamFailure && error.ending.class === "crashed";
      throw hasExited ? this.#useless(`${error.message} before it answered initialize`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #useless(why: string): UpstreamFailure {
    const { command, args } = this.#spec.command;
    const line = [command, ...args].join(" ");
    const message = `Could not start the agent with \`${line}\`: ${why}. Run the command in a terminal to see its output.`;
    return new UpstreamFailure({ class: "failed", message, resetAtMs: null });
  }

  #forget(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#started = null;
    this.#events.onEnd(connection);
  }

  /** An error is a failure of the session that was asked for. */
  async ask(connection: Connection, method: string, params: string): Promise<Answer> {
    const answer = await connection.request(method, params).catch((error: unknown) => {
      throw error instanceof ConnectionEnded ? this.gone(connection, error) : error;
    });
    if (answer.error === null) return answer;
    const { inUseReason } = this.#spec.vendor.dialect;
    const inUse = inUseReason !== null && fieldsOf(answer.error.data)["reason"] === inUseReason;
    const ending = this.#ending(answer.error, false);
    throw new UpstreamFailure(ending, connection.process.identity, answer.message, inUse);
  }

  gone(connection: Connection, { message }: ConnectionEnded): UpstreamFailure {
    const ending = this.#ending({ code: null, message, data: null }, true);
    return new UpstreamFailure(ending, connection.process.identity);
  }

  #ending(error: RpcError, exited: boolean): Ending {
    return classifyEnd(this.#spec.vendor.endings, { stopReason: null, error, exited });
  }

  /** Ends a process by its identity, whether it is ours or that of a bridge that died; null: the one that runs. */
  async end(process: string | null): Promise<void> {
    const running = this.#connection?.process;
    if (running !== undefined && (process === null || process === running.identity)) return running.end();
    const identity = process === null ? null : readIdentity(process);
    if (identity !== null) await endGroup(identity);
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.end(null);
    await this.#started?.catch(() => undefined);
  }
}

/** The capabilities that an agent declared for its sessions. */
interface AgentCan {
  readonly load: boolean;
  readonly resume: boolean;
  readonly fork: boolean;
  readonly list: boolean;
  readonly close: boolean;
  readonly delete: boolean;
  /** The ids of its ways to log in. */
  readonly logins: readonly string[];
}

const UNASKED: AgentCan = {
  load: false,
  resume: false,
  fork: false,
  list: false,
  close: false,
  delete: false,
  logins: [],
};

/** Reads the result of `initialize`. */
function agentCan(result: Json): AgentCan {
  const { loadSession, sessionCapabilities } = fieldsOf(fieldsOf(result)["agentCapabilities"]);
  const session = fieldsOf(sessionCapabilities);
  const has = (name: string): boolean => typeof session[name] === "object" && session[name] !== null;
  return {
    load: loadSession === true,
    resume: has("resume"),
    fork: has("fork"),
    list: has("list"),
    close: has("close"),
    delete: has("delete"),
    logins: listIn(fieldsOf(result)["authMethods"] ?? null).map(({ id }) => wordsIn(id)),
  };
}
