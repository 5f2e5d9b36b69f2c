import type { ConversationId } from "#log/ids";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { SessionOptions } from "#edges/acp/agent/session-options";
import type { Answer } from "#edges/acp/agent/process/connection";
import { BridgeSession, type ForwardedRequest } from "#edges/acp/bridge-upstream";
import { madeAnswer, unknownMethod } from "#edges/acp/made-answer";
import { type Message, readableAt } from "#edges/acp/wire/spans";

const MODEL_OPTION = "model";

/** Which models are asked in a session's conversation. */
interface SessionModels {
  choose(model: string): Promise<void>;
  /** Shows the one the log names now. */
  refresh(session: LoopSession): Promise<void>;
}

/** What a host is shown of a conversation that an agent loop carries: there is no session of a vendor behind it. */
export class LoopSession extends BridgeSession {
  readonly id: string;
  readonly conversation: ConversationId;
  readonly model = null;
  readonly opened = null;
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
  showModel(current: string, known: readonly string[]): void {
    const names = [...new Set([current, ...known])];
    this.options.setOptions([
      {
        id: MODEL_OPTION,
        name: "Model",
        description: "Which model is asked from here on",
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
    return madeAnswer({ result });
  }

  override refresh(): Promise<void> {
    return this.#models.refresh(this);
  }

  notify(): void {
    // Nobody listens for what is only told.
  }

  async applyChoices(): Promise<void> {
    // The log says which model is asked.
  }

  turnShown(): void {
    // It says nothing between turns.
  }
}
