import type { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { endTurnProcesses } from "#agent/loop/abandoned-turn";
import { modelOfSettings } from "#agent/models/model-choice";
import { modelChange } from "#log/projections/settings";
import { modelNames } from "#agent/models/model-table";
import type { AgentModel, ModelInput } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import type { Holdfast } from "#conversation/holdfast";
import type { OpenTurn } from "#conversation/list-conversations";
import { type ConversationId, parseConversationId } from "#log/ids";
import { type Fields, fieldsOf, textIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { isLogError } from "#log/errors";
import { isHeld } from "#log/plans/lease";
import { endRecordedProcess } from "#turn/effects/left-processes";
import { isDeadProcess } from "#turn/running-process";
import {
  BridgeSession,
  type ForwardedRequest,
  type HostedAgent,
  type RestoredState,
} from "./bridge-agents.ts";
import { type Answer, syntheticResponse, unknownMethod } from "#edges/acp/agent/connection";
import { type Message, readableAt } from "#edges/acp/wire/spans";
import { type EditorServers, LOOP_COMMANDS } from "./editor-input.ts";
import type { Restored } from "#agent/restore";
import { readJson } from "#log/json/read-json";
import { resolve } from "node:path";
import { SessionOptions } from "#edges/acp/agent/session-options";

/** An agent loop to be served to a host. */
export interface AgentLoop {
  /** The agent's name for the host. */
  readonly name: string;
  readonly loop: AgentOptions;
}

/** The loop as the bridge shows it to a host. */
export class LoopAgent implements HostedAgent {
  readonly agent: string;
  readonly account = null;
  readonly native = null;
  readonly logins: readonly string[] = [];
  readonly carriesLines = false;
  readonly commands: readonly Fields[] = LOOP_COMMANDS;
  readonly #holdfast: Holdfast;
  readonly #loop: Agent;
  readonly #options: AgentOptions;
  readonly #editor: EditorServers;
  readonly #sessions = new Map<string, LoopSession>();

  constructor(holdfast: Holdfast, loop: Agent, { name, loop: options }: AgentLoop, editor: EditorServers) {
    this.agent = name;
    this.#holdfast = holdfast;
    this.#loop = loop;
    this.#options = options;
    this.#editor = editor;
  }

  /** Rejects a model that cannot be called before anything begins with it. */
  async introduce(): Promise<Json> {
    await this.#open(this.#options.model);
    return {
      protocolVersion: 1,
      agentCapabilities: {
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
      },
      authMethods: [],
    };
  }

  #open(model: ModelInput): Promise<AgentModel> {
    return (this.#options.openModel ?? openModel)(model);
  }

  /** The session of a conversation, with the model as the log has it now. */
  async session(id: string): Promise<LoopSession> {
    const conversation = parseConversationId(id);
    const session =
      this.#sessions.get(id) ??
      new LoopSession(conversation, {
        choose: (model) => this.choose(id, model),
        refresh: (view) => this.#show(view, null),
      });
    this.#sessions.set(id, session);
    await this.#show(session, null);
    return session;
  }

  /** From here on this model is asked; one that cannot be is refused, and nothing changes. */
  async choose(id: string, model: string): Promise<void> {
    const { id: name } = await this.#open(model);
    if ((await this.modelOf(id)) !== name) await this.#loop.note(id, [modelChange(name)]);
    const session = this.#sessions.get(id);
    if (session !== undefined) await this.#show(session, name);
  }

  async modelOf(id: string): Promise<string> {
    const settings = await (await this.#holdfast.conversation(id)).settings();
    return modelOfSettings(settings) ?? (await this.#open(this.#options.model)).id;
  }

  async #show(session: LoopSession, chosen: string | null): Promise<void> {
    const model = chosen ?? (await this.modelOf(session.id));
    const own = (await this.#open(this.#options.model)).id;
    session.showModel(model, [own, ...modelNames(own), ...modelNames(model)]);
  }

  sessionOf(conversation: string): LoopSession | null {
    return this.#sessions.get(conversation) ?? null;
  }

  async release(conversation: string): Promise<void> {
    this.#sessions.delete(conversation);
    await this.#editor.release(conversation);
  }

  describeCall(call: { readonly name: string; readonly input: Json }, cwd: string | null): Fields {
    return toolView(call, cwd);
  }

  async restored(conversation: string): Promise<RestoredState> {
    const restored = await this.#loop.restore(conversation);
    return restoredState(restored, await this.#isRunning(restored.openTurn));
  }

  /** Ends the processes of an open turn whose host is gone, so that an editor that opens it finds nothing still running. */
  async endAbandonedProcesses(id: string): Promise<void> {
    const conversation = await this.#holdfast.conversation(id);
    if ((await conversation.openTurn()) === null) return;
    const { endProcess = endRecordedProcess } = this.#options;
    try {
      await this.#loop.note(id, () => endTurnProcesses(conversation, endProcess));
    } catch (error) {
      // Another host runs the turn, or a process does not end: its history can be read, and the next prompt is refused.
      if (!isLogError(error, "busy")) throw error;
    }
  }

  /** Whether a process is running the turn now, so that it is open because it runs. */
  async #isRunning(turn: OpenTurn | null): Promise<boolean> {
    const { isDead = isDeadProcess } = this.#options;
    const lease = turn?.lease ?? null;
    return isHeld(lease) && !(await isDead(lease.writer));
  }

  async forward(request: Message): Promise<ForwardedRequest> {
    return unknownMethod(request);
  }

  async notify(): Promise<void> {
    // No one listens for notifications.
  }

  async listSessions(): Promise<Json> {
    return null;
  }

  async replayedHistory(): Promise<readonly never[]> {
    return [];
  }

  async forget(): Promise<void> {
    // The log is all there is.
  }

  async yieldSession(): Promise<void> {
    // The log is all there is.
  }

  async turnEnded(): Promise<void> {
    // The log is all there is.
  }

  pause(): void {
    // A model's answer is bounded; what waits of it is held for the host.
  }

  async stop(): Promise<void> {
    this.#sessions.clear();
    await this.#editor.close();
  }
}

/** The state of a conversation for a host that opens it. The messages follow as updates. */
function restoredState(restored: Restored, isRunning: boolean): RestoredState {
  const { conversation: _, messages, ...state } = restored;
  const meta: Fields = { ...(readJson(JSON.stringify(state)) as Fields), messages: messages.length };
  const updates = restored.waiting.map(({ call }) => ({
    sessionUpdate: "tool_call_update",
    toolCallId: call,
    status: "pending",
    content: [{ type: "content", content: { type: "text", text: "Not run: waiting for your answer" } }],
  }));
  return { meta, updates, notice: noticeFor(restored, isRunning) };
}

function noticeFor({ openTurn, waiting, missing }: Restored, isRunning: boolean): RestoredState["notice"] {
  const lacks = missing.map(({ message }) => message).join("; ");
  if ((openTurn === null || isRunning) && lacks === "") return null;
  const meta: Fields = {
    event: "restored",
    openTurn: openTurn?.turn ?? null,
    waiting: waiting.map(({ request }) => request),
    missing: missing.map(({ kind, name }) => ({ kind, name })),
  };
  if (openTurn === null || isRunning)
    return {
      severity: "warning",
      title: "Some parts of this conversation are unavailable",
      description: lacks,
      meta,
    };
  const what =
    waiting.length > 0
      ? "It is waiting for your answer"
      : "It was interrupted. Everything it produced is saved";
  return {
    severity: "warning",
    title: "The last turn has not ended",
    description: `${what}. Use /continue to resume it, or send a new message.${lacks === "" ? "" : ` ${lacks}`}`,
    meta,
  };
}

const TITLE_CHARS = 120;

const KINDS: { readonly [tool: string]: string } = {
  read: "read",
  write: "edit",
  edit: "edit",
  search: "search",
  shell: "execute",
};

/** What a host shows of a call: a title, its kind, the file it is about, and a change of a file. */
function toolView(call: { readonly name: string; readonly input: Json }, cwd: string | null): Fields {
  const { name } = call;
  const input = fieldsOf(call.input);
  const path = textIn(input["path"]);
  const about = path ?? textIn(input["command"]) ?? textIn(input["pattern"]);
  const title = about === null ? name : `${name} ${about}`.replaceAll(/\s+/g, " ");
  const place = path === null ? null : cwd === null ? absolute(path) : resolve(cwd, path);
  const change = place === null ? null : changeOf(name, input, place);
  return {
    title: title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1).toWellFormed()}…` : title,
    kind: (Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? "other",
    ...(place === null ? {} : { locations: [{ path: place }] }),
    ...(change === null ? {} : { content: [change] }),
  };
}

function absolute(path: string): string | null {
  return path.startsWith("/") ? path : null;
}

function changeOf(name: string, input: Fields, path: string): Fields | null {
  const [content, before, after] = ["content", "old", "new"].map((part) => textIn(input[part]));
  if (name === "write" && content != null) return { type: "diff", path, oldText: null, newText: content };
  if (name === "edit" && before != null && after != null)
    return { type: "diff", path, oldText: before, newText: after };
  return null;
}

const MODEL_OPTION = "model";

/** Which models are asked in a session's conversation. */
interface SessionModels {
  choose(model: string): Promise<void>;
  /** Shows the one the log names now. */
  refresh(session: LoopSession): Promise<void>;
}

/** What a host shows of a conversation that the agent loop runs: there is no vendor session. */
export class LoopSession extends BridgeSession {
  readonly id: string;
  readonly conversation: ConversationId;
  readonly model = null;
  readonly openAnswer = null;
  readonly options: SessionOptions = new SessionOptions();
  override readonly keepsChoices = true;
  readonly #models: SessionModels;

  constructor(conversation: ConversationId, models: SessionModels) {
    super();
    this.id = conversation;
    this.conversation = conversation;
    this.#models = models;
  }

  /** The model that is asked now, among those to choose from. */
  showModel(current: string, models: readonly string[]): void {
    const names = [...new Set([current, ...models])];
    this.options.setOptions([
      {
        id: MODEL_OPTION,
        name: "Model",
        description: "The model for this and later turns",
        category: "model",
        type: "select",
        currentValue: current,
        options: names.map((name) => ({ value: name, name })),
      },
    ]);
  }

  forward(request: Message): ForwardedRequest {
    const params = fieldsOf(request.params === null ? null : readableAt(request.bytes, request.params));
    const { method } = request;
    const isOption = method === "session/set_config_option" && params["configId"] === MODEL_OPTION;
    if (!isOption && method !== "session/set_model") return unknownMethod(request);
    const model = wordsIn(params[isOption ? "value" : "modelId"]);
    return { answer: this.#set(model, isOption), cancel: () => undefined };
  }

  async #set(model: string, isOption: boolean): Promise<Answer> {
    await this.#models.choose(model);
    const result: Json = isOption ? { configOptions: this.options.options } : {};
    return syntheticResponse({ result });
  }

  override refresh(): Promise<void> {
    return this.#models.refresh(this);
  }

  notify(): void {
    // No one listens for notifications.
  }

  async applyChoices(): Promise<void> {
    // The log records which model is called.
  }

  turnShown(): void {
    // It sends nothing between turns.
  }
}
