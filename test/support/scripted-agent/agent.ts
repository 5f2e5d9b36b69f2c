/** Takes the host's messages: one handler per method, each agent's own answers to what it cannot do or find. */
import { readControl, nextFailure } from "./control.ts";
import { commandOf, runCommand, textsFor } from "./commands.ts";
import { failLike } from "./failures.ts";
import type { Cap } from "./flavours.ts";
import { ORDERS } from "./orders.ts";
import { type SessionInputs, Session } from "./session.ts";
import { newMessageId, type SessionFile, shortened } from "./session-files.ts";
import { type Answer, forever, Turn } from "./turn.ts";
import { type Fields, fieldsOf, Refusal, textOf } from "./wire.ts";

type Handler = (params: Fields, id: unknown) => unknown;

const NOTHING_MORE = Symbol("answered already");

export class ScriptedAgent {
  readonly #inputs: SessionInputs;
  readonly #live = new Map<string, Session>();

  constructor(inputs: SessionInputs) {
    this.#inputs = inputs;
  }

  async receive(message: Fields): Promise<void> {
    const { wire } = this.#inputs;
    const { id } = message;
    const method = textOf(message["method"]);
    const params = fieldsOf(message["params"]);
    if (id === undefined) return this.#notified(method, params);
    try {
      const result = await this.#handler(method)(params, id);
      if (result !== NOTHING_MORE) wire.answer(id, { result });
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(-32603, String(error));
      wire.answer(id, { error: refusal.error });
    }
    if (method === "session/new") this.#afterNew();
  }

  #notified(method: string, params: Fields): void {
    if (method === "session/cancel") this.#live.get(textOf(params["sessionId"]))?.cancel?.();
  }

  #handler(method: string): Handler {
    const able = (cap: Cap, handler: Handler): Handler =>
      this.#inputs.flavour.caps.includes(cap) ? handler : missing(method);
    const handlers: { readonly [method: string]: Handler } = {
      initialize: (params) => this.#initialize(params),
      authenticate: () => ({}),
      logout: () => ({}),
      "session/new": (params) => this.#open(params),
      "session/load": able("load", (params, id) => this.#load(params, id)),
      "session/resume": able("resume", (params) => this.#resume(params)),
      "session/fork": able("fork", (params) => this.#fork(params)),
      "session/list": able("list", (params) => this.#list(params)),
      "session/close": able("close", (params) => this.#close(params)),
      "session/delete": able("delete", (params) => this.#delete(params)),
      "session/prompt": (params, id) => this.#prompt(params, id),
      "session/set_mode": (params) => this.#set(params, "mode", textOf(params["modeId"])),
      "session/set_config_option": (params) =>
        this.#set(params, textOf(params["configId"]), textOf(params["value"])),
      ...(this.#inputs.flavour.like === "codex" || this.#inputs.flavour.like === "gemini"
        ? { "session/set_model": (params: Fields) => this.#setModel(params) }
        : {}),
    };
    if (method.startsWith("_")) return (params) => ({ heard: method, members: Object.keys(params) });
    return handlers[method] ?? missing(method);
  }

  #initialize(params: Fields): Fields {
    const { flavour, client } = this.#inputs;
    const air = fieldsOf(
      fieldsOf(fieldsOf(fieldsOf(params["clientCapabilities"])["_meta"])["jetbrains"])["air"],
    );
    client.wantsFailures = JSON.stringify(air["capabilities"] ?? []).includes("sessionFailure");
    const able = (cap: Cap): Fields => (flavour.caps.includes(cap) ? { [cap]: {} } : {});
    const queueing = flavour.queues ? { _meta: { claudeCode: { promptQueueing: true } } } : {};
    return {
      protocolVersion: 1,
      agentInfo: flavour.info,
      authMethods: [{ id: "login", name: "Log in" }],
      agentCapabilities: {
        loadSession: flavour.caps.includes("load"),
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: {
          ...able("list"),
          ...able("resume"),
          ...able("fork"),
          ...able("close"),
          ...able("delete"),
        },
        ...queueing,
      },
    };
  }

  async #open(params: Fields): Promise<Fields> {
    if (readControl(this.#inputs.folder).newHangs === true) await forever();
    if (readControl(this.#inputs.folder).newFails === true) throw new Refusal(-32603, "Internal error");
    const cwd = textOf(params["cwd"]);
    if (cwd === "" || !Array.isArray(params["mcpServers"])) throw new Refusal(-32602, "Invalid params");
    const { flavour, files, wire } = this.#inputs;
    if (flavour.like === "claude" || flavour.like === "codex")
      wire.notify("_auth/status_update", { status: "authenticated" });
    const session = this.#hold({ id: flavour.newId(), cwd, title: null, messages: [] }, params);
    files.made(session.id);
    if (!flavour.bornOnPrompt) files.save(session.file);
    return { sessionId: session.id, ...session.state() };
  }

  #hold(file: SessionFile, params: Fields): Session {
    const session = new Session(this.#inputs, file, params);
    this.#inputs.files.own(file.id);
    this.#live.set(file.id, session);
    return session;
  }

  /** Claude and Codex tell of their commands once the answer is out. */
  #afterNew(): void {
    const session = [...this.#live.values()].at(-1);
    if (this.#inputs.flavour.options)
      session?.update({
        sessionUpdate: "available_commands_update",
        availableCommands: [
          { name: "compact", description: "Compacts" },
          { name: "status", description: "Shows how things stand" },
        ],
      });
  }

  async #find(params: Fields, method: string): Promise<Session> {
    const { files, flavour, folder } = this.#inputs;
    const id = textOf(params["sessionId"]);
    const { resume } = readControl(folder);
    if (resume === "hangs") await forever();
    const stored = resume === "unknown" ? null : files.find(id);
    if (stored !== null && flavour.soleClient && files.ownerOf(id) !== null)
      throw new Refusal(-32600, "Invalid request: This session is in use by another client", {
        reason: "thread_active_writer",
        threadId: id,
      });
    const born = stored !== null && (!flavour.bornOnPrompt || stored.messages.length > 0);
    if (!born) throw flavour.unknown(method, id, textOf(params["cwd"]));
    return this.#hold(resume === "short" ? shortened(stored) : stored, params);
  }

  /** All of the history before the answer; Gemini shows one piece and the rest after it. */
  async #load(params: Fields, id: unknown): Promise<unknown> {
    const session = await this.#find(params, "session/load");
    const { like } = this.#inputs.flavour;
    const [first, ...rest] = session.replay();
    const result = { ...(like === "claude" ? { sessionId: session.id } : {}), ...session.state() };
    if (first !== undefined) session.update(first);
    if (like === "gemini") this.#inputs.wire.answer(id, { result });
    for (const update of rest) session.update(update);
    return like === "gemini" ? NOTHING_MORE : result;
  }

  async #resume(params: Fields): Promise<Fields> {
    const session = await this.#find(params, "session/resume");
    const named = this.#inputs.flavour.like === "claude" ? { sessionId: session.id } : {};
    return { ...named, ...session.state() };
  }

  async #fork(params: Fields): Promise<Fields> {
    const { flavour, files, folder } = this.#inputs;
    const id = textOf(params["sessionId"]);
    const source = this.#live.get(id)?.file ?? files.find(id);
    if (source === null || (flavour.bornOnPrompt && source.messages.length === 0))
      throw flavour.unknown("session/fork", id, textOf(params["cwd"]));
    const messages = flavour.like === "claude" ? cut(source, params) : source.messages;
    const title = source.title === null ? null : `${source.title} (fork)`;
    const session = this.#hold({ ...source, id: flavour.newId(), title, messages }, params);
    files.made(session.id);
    if (readControl(folder).forksUnwritten !== true) files.save(session.file);
    if (flavour.like === "opencode") for (const update of session.replay()) session.update(update);
    return { sessionId: session.id, ...session.state() };
  }

  #list(params: Fields): Fields {
    const { cwd } = params;
    const sessions = this.#inputs.files
      .all()
      .filter((file) => cwd === undefined || cwd === null || file.cwd === cwd)
      .map((file) => ({ sessionId: file.id, cwd: file.cwd, title: file.title }));
    return { sessions };
  }

  #close(params: Fields): Fields {
    const id = textOf(params["sessionId"]);
    this.#live.get(id)?.cancel?.();
    this.#live.delete(id);
    return {};
  }

  #delete(params: Fields): Fields {
    this.#inputs.files.remove(textOf(params["sessionId"]));
    return this.#close(params);
  }

  #set(params: Fields, option: string, value: string): Fields {
    const session = this.#liveOne(params, "session/set_config_option");
    if (!session.set(option, value)) throw new Refusal(-32602, `There is no ${option} ${value}`);
    if (params["configId"] === undefined) return {};
    const configOptions = session.configOptions();
    // Codex says so twice, first to all who listen.
    if (this.#inputs.flavour.like === "codex")
      session.update({ sessionUpdate: "config_option_update", configOptions });
    return { configOptions };
  }

  #setModel(params: Fields): Fields {
    const id = textOf(params["modelId"]);
    if (this.#liveOne(params, "session/set_model").setModel(id)) return {};
    throw new Refusal(-32602, `There is no model ${id}`);
  }

  #liveOne(params: Fields, method: string): Session {
    const id = textOf(params["sessionId"]);
    const session = this.#live.get(id);
    if (session === undefined || session.gone) throw this.#inputs.flavour.unknown(method, id, "");
    return session;
  }

  async #prompt(params: Fields, id: unknown): Promise<unknown> {
    const session = this.#liveOne(params, "session/prompt");
    if (session.cancel !== null && !this.#inputs.flavour.queues)
      throw new Refusal(-32600, "A prompt is running in this session");
    const turn = session.turns.then(() => this.#turn(session, params, id));
    session.turns = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #turn(session: Session, params: Fields, id: unknown): Promise<unknown> {
    const cancel = new AbortController();
    session.cancel = () => cancel.abort();
    session.prompted++;
    const blocks = Array.isArray(params["prompt"]) ? params["prompt"].map(fieldsOf) : [];
    const words = blocks.map((block) => textOf(block["text"])).filter((text) => text !== "");
    const texts = textsFor(this.#inputs.flavour.like, blocks);
    const turn = new Turn(session, id, cancel.signal);
    const command = commandOf(session, blocks);
    if (command !== null) {
      session.cancel = null;
      return runCommand(turn, command);
    }
    // Read first: a failure of the control file is met by the prompt as a whole.
    const failure = nextFailure(this.#inputs.folder);
    session.keep({ role: "user", texts, messageId: newMessageId() });
    try {
      const order = (words.at(-1) ?? "").trimEnd().split("\n").at(-1)?.trim() ?? "";
      const answer = await (failure === null ? run(turn, order) : failLike(turn, failure));
      this.#idle(session, answer, turn);
      return turn.answered ? NOTHING_MORE : answer;
    } finally {
      session.cancel = null;
      if (!session.gone) turn.close();
    }
  }

  /** Codex says that its thread is idle after a turn that worked. */
  #idle(session: Session, answer: Answer, turn: Turn): void {
    if (this.#inputs.flavour.like !== "codex" || turn.answered || answer.stopReason !== "end_turn") return;
    if (turn.text === "") return;
    const threadStatus = { type: "idle" };
    session.update({ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus } } });
  }
}

function missing(method: string): Handler {
  return () => {
    throw new Refusal(-32601, `"Method not found": ${method}`, { method });
  };
}

/** Up to and with the message the host named, where it named one. */
function cut(source: SessionFile, params: Fields): SessionFile["messages"] {
  const air = fieldsOf(fieldsOf(fieldsOf(params["_meta"])["jetbrains"])["air"]);
  const { messageId } = fieldsOf(air["fork"]);
  if (messageId === undefined) return source.messages;
  const at = source.messages.findLastIndex((said) => said.role !== "tool" && said.messageId === messageId);
  if (at === -1) throw new Refusal(-32602, "Invalid params: unknown messageId");
  return source.messages.slice(0, at + 1);
}

function run(turn: Turn, order: string): Answer | Promise<Answer> {
  const word = Object.keys(ORDERS)
    .filter((name) => order === name || order.startsWith(`${name} `))
    .toSorted((one, other) => other.length - one.length)[0];
  const known = word === undefined ? undefined : ORDERS[word];
  if (known !== undefined) return known(turn, order.slice((word ?? "").length).trim());
  turn.say(`You said: ${order}`);
  return turn.end();
}
