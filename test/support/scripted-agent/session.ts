/** One session the agent holds in memory, with the settings it was given; they are gone with the process. */
import type { Flavour } from "./flavours.ts";
import type { Said, SessionFile, SessionFiles } from "./session-files.ts";
import type { Fields, Wire } from "./wire.ts";

const MODES = ["default", "plan", "yolo"];
const MODELS = ["small", "large"];
const EFFORTS = ["low", "high"];
const EFFORT_OPTIONS: ReadonlySet<string> = new Set(["effort", "reasoning_effort"]);

export interface SessionInputs {
  readonly wire: Wire;
  readonly files: SessionFiles;
  readonly flavour: Flavour;
  readonly folder: string;
  /** Tools ask for permission, whatever the control file says. */
  readonly ask: boolean;
  /** What the host said of itself. */
  readonly client: { wantsFailures: boolean };
}

export class Session {
  readonly inputs: SessionInputs;
  readonly cwd: string;
  readonly mcpServers: unknown;
  file: SessionFile;
  mode: string = "default";
  model: string = "small";
  effort: string = "low";
  /** What it has cost since this process took it up, in cents: agents report the whole of it, not a turn's part. */
  spentCents: number = 0;
  /** How often it was prompted since this process took it up. */
  prompted: number = 0;
  /** It expired: nothing brings it back. */
  gone: boolean = false;
  /** Cancels the turn that runs; null when none does. */
  cancel: (() => void) | null = null;
  /** Settles when the last turn that was asked for is over. */
  turns: Promise<void> = Promise.resolve();

  constructor(inputs: SessionInputs, file: SessionFile, params: Fields) {
    this.inputs = inputs;
    this.file = file;
    this.cwd = typeof params["cwd"] === "string" ? params["cwd"] : file.cwd;
    this.mcpServers = params["mcpServers"] ?? null;
  }

  get id(): string {
    return this.file.id;
  }

  keep(...said: readonly Said[]): void {
    this.file = { ...this.file, messages: [...this.file.messages, ...said] };
    this.inputs.files.save(this.file);
  }

  update(update: Fields, more: Fields = {}): void {
    this.inputs.wire.notify("session/update", { sessionId: this.id, update, ...more });
  }

  /** Everything it was ever told, oldest first. */
  told(): string {
    return this.file.messages.flatMap((said) => (said.role === "user" ? said.texts : [])).join("\n");
  }

  lastAnswer(): string {
    const last = this.file.messages.findLast((said) => said.role === "assistant");
    return last?.role === "assistant" ? last.texts.join("") : "";
  }

  configOptions(): readonly Fields[] {
    const { like } = this.inputs.flavour;
    const select = (id: string, category: string, current: string): Fields => ({
      id,
      name: id,
      category,
      type: "select",
      currentValue: current,
      options: (id === "mode" ? MODES : id === "model" ? MODELS : EFFORTS).map((value) => ({
        value,
        name: value,
      })),
    });
    return [
      select("mode", "mode", this.mode),
      select("model", "model", this.model),
      ...(like === "claude" ? [select("effort", "thought_level", this.effort)] : []),
      ...(like === "codex" ? [select("reasoning_effort", "thought_level", this.effort)] : []),
    ];
  }

  /** Modes, models and options in the shapes this agent uses. */
  state(): Fields {
    const { like, options } = this.inputs.flavour;
    const modes = {
      currentModeId: this.mode,
      availableModes: MODES.map((id) => ({ id, name: id })),
    };
    // Codex names a model of the older protocol together with its effort.
    const ids =
      like === "codex" ? MODELS.flatMap((id) => EFFORTS.map((effort) => `${id}[${effort}]`)) : MODELS;
    const models = {
      currentModelId: like === "codex" ? `${this.model}[${this.effort}]` : this.model,
      availableModels: ids.map((modelId) => ({ modelId, name: modelId })),
    };
    if (like === "plain") return { modes };
    if (like === "gemini") return { modes, models };
    return {
      modes,
      ...(like === "codex" ? { models } : {}),
      ...(options ? { configOptions: this.configOptions() } : {}),
    };
  }

  /** Sets one option; false when there is none of that name. */
  set(option: string, value: string): boolean {
    if (option === "mode" && MODES.includes(value)) this.mode = value;
    else if (option === "model" && MODELS.includes(value)) this.model = value;
    else if (EFFORT_OPTIONS.has(option) && EFFORTS.includes(value)) this.effort = value;
    else return false;
    return true;
  }

  /** Sets the model by its name in the older protocol. */
  setModel(id: string): boolean {
    if (this.inputs.flavour.like !== "codex") return this.set("model", id);
    const [, model = "", effort = ""] = /^(.+)\[(.+)\]$/.exec(id) ?? [];
    if (!EFFORTS.includes(effort) || !this.set("model", model)) return false;
    this.effort = effort;
    this.update({ sessionUpdate: "config_option_update", configOptions: this.configOptions() });
    return true;
  }

  /** The updates that show the history again, in the agent's own way. */
  replay(): readonly Fields[] {
    const { flavour } = this.inputs;
    const named = (messageId: string): Fields => (flavour.messageIds ? { messageId } : {});
    const shown = this.file.messages.flatMap((said): readonly Fields[] => {
      if (said.role === "tool")
        return [
          { sessionUpdate: "tool_call", toolCallId: said.call, title: said.title, status: "pending" },
          {
            sessionUpdate: "tool_call_update",
            toolCallId: said.call,
            status: "completed",
            rawOutput: said.output,
          },
        ];
      const sessionUpdate = said.role === "user" ? "user_message_chunk" : "agent_message_chunk";
      return said.texts.map((text) => ({
        sessionUpdate,
        content: { type: "text", text },
        ...named(said.messageId),
      }));
    });
    if (flavour.like !== "gemini") return shown;
    const text = "<session_context>\nThis is the Gemini CLI.\n</session_context>";
    return [{ sessionUpdate: "user_message_chunk", content: { type: "text", text } }, ...shown];
  }
}
