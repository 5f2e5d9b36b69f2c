import type { Holdfast } from "#conversation/holdfast";
import { type Clock, systemClock } from "#conversation/clock";
import type { RuntimeOptions } from "#sending/options";
import { Runtime } from "#sending/runtime";
import type { SessionSettings } from "#sending/upstream";
import type { EntryBody } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { isPreamble } from "#sending/rules/preamble";
import type { Connection } from "#edges/acp/agent/process/connection";
import { resultOf } from "#edges/acp/agent/process/connection";
import type { AgentLine, HostPort } from "#edges/acp/agent/host-port";
import type { AgentSpec } from "#edges/acp/agent/process/running-agent";
import { AcpUpstream } from "#edges/acp/agent/upstream";
import {
  type Message,
  readableAt,
  readMessage,
  type Span,
  spanAt,
  stringAt,
  textAt,
} from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import type { Desk } from "./desk.ts";
import { Floor } from "./floor.ts";
import { forward } from "./forward.ts";
import { HostWire } from "./wire/host-wire.ts";
import { listSessions } from "./sessions/list.ts";
import { logout } from "./logout.ts";
import { prompt } from "./prompt.ts";
import { HostRequest } from "./wire/requests.ts";
import { appendElement } from "./wire/rewrite.ts";
import { errorOf } from "./wire/rpc-error.ts";
import {
  chainOfSession,
  closeSession,
  deleteSession,
  forkSession,
  loadSession,
  newSession,
  resumeSession,
} from "./sessions/sessions.ts";
import { setMode, setModel, setOption } from "./set.ts";
import { agentCommand, agentOption } from "./state.ts";
import { fieldsOf } from "#log/json/json-fields";

export interface BridgeOptions {
  readonly holdfast: Holdfast;
  /** The agents a conversation may be carried by; the first is the default. */
  readonly agents: readonly [AgentSpec, ...AgentSpec[]];
  /** Writes one line to the host. */
  readonly write: (line: Uint8Array) => void;
  readonly onLimit: "park" | "switch" | "ask";
  readonly version: string;
  readonly runtime?: Partial<Omit<RuntimeOptions, "upstreams">>;
  readonly clock?: Clock;
}

const REST_MS = 10_000;

type Handler = (floor: Floor, request: HostRequest) => Promise<void>;

const HANDLERS: { readonly [method: string]: Handler } = {
  "session/new": newSession,
  "session/load": loadSession,
  "session/resume": resumeSession,
  "session/fork": forkSession,
  "_holdfast/chain": chainOfSession,
  "session/list": listSessions,
  "session/close": closeSession,
  "session/delete": deleteSession,
  "session/prompt": prompt,
  "session/set_mode": setMode,
  "session/set_model": setModel,
  "session/set_config_option": setOption,
  logout,
};

/** Between a host and its agents: one well-behaved agent to the one, one host to the others. */
export class Bridge implements HostPort {
  readonly #options: BridgeOptions;
  readonly #wire: HostWire;
  readonly #floor: Floor;
  readonly #agents: readonly [AcpUpstream, ...AcpUpstream[]];
  readonly #working = new Map<Promise<void>, HostRequest>();
  #introduction: string = `{"protocolVersion":1,"clientCapabilities":{}}`;

  constructor(options: BridgeOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    const [first, ...others] = options.agents;
    const made = (spec: AgentSpec): AcpUpstream => new AcpUpstream(spec, this, clock);
    this.#agents = [made(first), ...others.map((spec) => made(spec))];
    this.#wire = new HostWire(options.write);
    const upstreams = this.#agents;
    const runtime = new Runtime(options.holdfast, { clock, ...options.runtime, upstreams });
    const { holdfast, onLimit } = options;
    const [agents, wire] = [this.#agents, this.#wire];
    this.#floor = new Floor({
      holdfast,
      runtime,
      wire,
      agents,
      onLimit,
      clock,
      pass: (line) => this.pass(line),
    });
  }

  introduction(): string {
    return this.#introduction;
  }

  sessionParams(settings: SessionSettings): string {
    // What a log says was run once is no reason to run it: servers come from the host that is there now.
    return this.#floor.openDesk(settings.conversation)?.params ?? `{"mcpServers":[]}`;
  }

  /** A line of an agent on its way to the host. */
  pass(line: AgentLine): void {
    if (line.onReached !== null) return line.onReached();
    const desk = line.session === null ? null : this.#floor.openDesk(line.session.conversation);
    if (desk?.gate) desk.gate.push(line);
    else this.#wire.pass(line, desk === null ? [] : this.#observe(line));
  }

  agentEnded(connection: Connection): void {
    this.#wire.withdraw(connection);
  }

  /** Keeps what an agent says of its settings, and adds what the bridge has to offer. */
  #observe(line: AgentLine): readonly Edit[] {
    const { bytes, params, method } = line.message;
    const desk = line.session === null ? null : this.#floor.openDesk(line.session.conversation);
    if (method !== "session/update" || params === null || desk === null) return [];
    const span = spanAt(bytes, params, ["update"]);
    const kind = span === null ? null : stringAt(bytes, spanAt(bytes, span, ["sessionUpdate"]));
    if (span === null || kind === null || !OBSERVED.has(kind)) return [];
    const update = fieldsOf(readableAt(bytes, span));
    const { agent } = this.#floor.agentOf(desk);
    const note = (work: Promise<void>): void => void work.catch(() => undefined);
    if (kind === "current_mode_update" && typeof update["currentModeId"] === "string")
      note(desk.choose(agent, { mode: update["currentModeId"] }, null));
    if (kind === "config_option_update") {
      const { options, model } = desk.changed(update["configOptions"] ?? null);
      if (Object.keys(options).length > 0) note(desk.choose(agent, { options }, model));
    }
    if (kind === "compaction_update" && update["status"] === "completed")
      note(this.#floor.runtime.note(desk.id, [compactionBody(agent, update)]));
    if (kind === "session_info_update") return this.#title(desk, bytes, spanAt(bytes, span, ["title"]));
    const list = spanAt(bytes, span, [
      kind === "config_option_update" ? "configOptions" : "availableCommands",
    ]);
    const own = kind === "config_option_update" ? agentOption(this.#floor, desk) : agentCommand(this.#floor);
    return list === null || own === null ? [] : appendElement(bytes, list, JSON.stringify(own));
  }

  /** The title an agent gives is kept, unless a person gave one; what it made of our own words is none. */
  #title(desk: Desk, bytes: Uint8Array, span: Span | null): readonly Edit[] {
    const title = stringAt(bytes, span);
    if (span === null || title === null || title.trim() === "") return [];
    if (isPreamble(title)) return [{ span, text: JSON.stringify(desk.title) }];
    void desk.entitle(this.#options.holdfast, title).catch(() => undefined);
    return [];
  }

  /** A line of the host. */
  take(line: Uint8Array): void {
    const message = readMessage(line);
    if (message === null) {
      this.#wire.fail("null", JSON.stringify({ code: -32700, message: "Not a JSON object" }));
      return;
    }
    if (message.method === null) this.#wire.answered(message);
    else if (message.method === "session/cancel") this.#cancel(message);
    else if (message.method === "$/cancel_request") this.#takeBack(message);
    else this.#work(new HostRequest(message));
  }

  #work(request: HostRequest): void {
    const work = this.#handle(request).catch((error: unknown) => {
      if (request.id !== null) this.#wire.fail(request.id, errorOf(error, request.text("sessionId")));
    });
    this.#working.set(work, request);
    void work.finally(() => this.#working.delete(work));
  }

  /** Agents know the host's requests by other ids, and most of them not at all. */
  #takeBack({ bytes, params }: Message): void {
    const span = params === null ? null : spanAt(bytes, params, ["requestId"]);
    const id = span === null ? null : textAt(bytes, span);
    const request = id === null ? undefined : [...this.#working.values()].find((open) => open.id === id);
    if (request === undefined) return;
    request.takenBack = true;
    request.onTakenBack?.();
  }

  #handle(request: HostRequest): Promise<void> {
    if (request.method === "initialize") return this.#initialize(request);
    const handler = Object.hasOwn(HANDLERS, request.method) ? HANDLERS[request.method] : undefined;
    return handler === undefined ? forward(this.#floor, request) : handler(this.#floor, request);
  }

  #cancel(message: Message): void {
    const request = new HostRequest(message);
    const work = async (): Promise<void> => {
      const desk = await this.#floor.desk(request.session);
      this.#floor.cancel(desk);
    };
    void work().catch(() => undefined);
  }

  /** The agent's own answer, with what the bridge can do beyond it. */
  async #initialize(request: HostRequest): Promise<void> {
    const given = fieldsOf(request.value());
    const asked = given["protocolVersion"];
    const version = typeof asked === "number" && asked > 1 ? 1 : (asked ?? 1);
    this.#introduction =
      version === asked ? request.paramsText : JSON.stringify({ ...given, protocolVersion: version });
    const session = fieldsOf(fieldsOf(given["clientCapabilities"])["session"]);
    this.#floor.notices = typeof session["notices"] === "object" && session["notices"] !== null;
    const { introduced } = await this.#agents[0].start();
    const result = fieldsOf(resultOf(introduced));
    const can = fieldsOf(result["agentCapabilities"]);
    const theirs = Object.entries(fieldsOf(can["sessionCapabilities"])).filter(([, how]) => how !== null);
    const sessionCapabilities = { ...OURS, ...Object.fromEntries(theirs) };
    const word = { version: this.#options.version, agents: this.#agents.map(({ agent }) => agent) };
    if (request.id === null) return;
    this.#wire.respond(
      request.id,
      JSON.stringify({
        ...result,
        agentCapabilities: { ...can, loadSession: true, sessionCapabilities },
        _meta: { ...fieldsOf(result["_meta"]), holdfast: word },
      }),
    );
  }

  /** A host that reads slowly holds the agents up, and the history on its way to it. */
  hold(held: boolean): void {
    this.#wire.hold(held);
    for (const agent of this.#agents) agent.hold(held);
  }

  /** What was asked before the host closed its end is answered, unless it is a prompt: that could take for ever. */
  async answerRest(): Promise<void> {
    const asked = [...this.#working].filter(([, { method }]) => method !== "session/prompt");
    if (asked.length === 0 || asked.length < this.#working.size) return;
    const done = new AbortController();
    const late = (this.#options.clock ?? systemClock).sleep(REST_MS, done.signal);
    await Promise.race([Promise.allSettled(asked.map(([work]) => work)), late]);
    done.abort();
  }

  /** The host is gone: what runs is ended and recorded, and no agent is left behind. */
  async close(): Promise<void> {
    this.#floor.close();
    this.#wire.hold(false); // nobody waits for a host that is gone
    await this.#floor.runtime.close();
    await Promise.allSettled(this.#agents.map((agent) => agent.stop()));
    await Promise.allSettled(this.#working.keys());
  }
}

/** The agent shortened its own memory; ours is as long as it was, so this only tells. */
function compactionBody(agent: string, update: { readonly [name: string]: Json }): EntryBody {
  return { type: "custom", customType: "upstream_compaction", data: { agent, ...update } };
}

/** What works whatever an agent can do. */
const OURS = { list: {}, resume: {}, close: {}, delete: {}, fork: {} };

const OBSERVED: ReadonlySet<string> = new Set([
  "compaction_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "available_commands_update",
]);
