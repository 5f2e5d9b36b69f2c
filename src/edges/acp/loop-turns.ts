import { Agent } from "#agent/agent";
import type { AgentResult } from "#agent/agent-options";
import type { CompactionResult } from "#agent/compaction/compact";
import { runSkillOrder } from "#agent/skills/change-skills";
import { modelFacts } from "#agent/models/model-table";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { forkAtCut } from "#conversation/read-cut";
import { isLogError } from "#log/errors";
import type { Fields } from "#log/json/json-fields";
import type { AssistantMessage, Usage } from "#log/message";
import type { PromptContent } from "#turn/accept";
import type { Host } from "#turn/host";
import type { Note } from "#turn/one-at-a-time";
import type { ForkAsideOptions } from "#upstream/sessions/prompt-origin";
import type { SendOptions } from "#upstream/options";
import type { BridgeTurn, BridgeTurns, LoadedLoop } from "./bridge-agents.ts";
import { type AgentLoop, LoopAgent, type LoopSession } from "./loop-agent.ts";
import { TOO_LITTLE_TO_SUMMARIZE } from "#operations/text";
import { serversFor } from "#agent/mcp/conversation-servers";
import type { McpServers } from "#agent/mcp/mcp-servers";
import { withDefaults } from "#log/with-defaults";
import { EditorServers, type LoopCommand, loopCommandIn } from "./editor-input.ts";

interface LoopParts {
  readonly holdfast: Holdfast;
  readonly loop: Agent;
  readonly agent: LoopAgent;
  /** Shows the host an update. */
  readonly show: (conversation: string, update: Fields) => void;
}

/** Turns of the bridge's conversations, carried by an agent loop. */
class LoopTurns implements BridgeTurns {
  readonly #parts: LoopParts;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  async send(to: string, content: PromptContent, options: SendOptions): Promise<BridgeTurn> {
    const { loop } = this.#parts;
    const command = loopCommandIn(content);
    if (command !== null) return this.#command(to, command, options);
    const { from, details } = options;
    if (from !== undefined && "edit" in from) {
      const { at } = await loop.goBackTo(to, from.edit);
      const about = { conversation: to, upstream: null, fidelity: "native" } as const;
      options.onEvent?.({ type: "continued", how: "edited", at, ...about });
    }
    const more = details === undefined ? {} : { details };
    return this.#ended(to, await loop.send(to, content, { ...hostOf(options), ...more }));
  }

  /** What a person says to the loop itself; a mistake of theirs is told in words, and no failure of a turn. */
  async #command(to: string, command: LoopCommand, options: SendOptions): Promise<BridgeTurn> {
    try {
      if (command.name === "continue")
        return {
          ...(await this.#ended(to, await this.#parts.loop.continue(to, hostOf(options)))),
          isCommand: true,
        };
      if (command.name === "compact") return await this.#compact(to, command.rest, options);
      const { name, rest } = command;
      const text = name === "skill" ? runSkillOrder(this.#parts.loop, to, rest) : this.#model(to, rest);
      this.#say(to, await text);
    } catch (error) {
      if (!isLogError(error, "invalid_request")) throw error;
      this.#say(to, error.message);
    }
    return DONE;
  }

  async #model(to: string, model: string): Promise<string> {
    const { agent } = this.#parts;
    if (model === "") return `Current model: ${await agent.modelOf(to)}. Use /model provider/name to switch.`;
    await agent.choose(to, model);
    const configOptions = agent.sessionOf(to)?.options.options ?? null;
    if (configOptions !== null)
      this.#parts.show(to, { sessionUpdate: "config_option_update", configOptions });
    return `Switched to ${model}.`;
  }

  async #compact(to: string, focus: string, options: SendOptions): Promise<BridgeTurn> {
    const more = focus === "" ? {} : { focus };
    const compacted = await this.#parts.loop.compact(to, { ...hostOf(options), ...more });
    if ("ending" in compacted && compacted.ending?.class === "cancelled") return CANCELLED;
    const text = compactedText(compacted);
    if (text !== "") this.#say(to, text);
    return DONE;
  }

  #say(to: string, text: string): void {
    this.#parts.show(to, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async #ended(to: string, result: AgentResult): Promise<BridgeTurn> {
    const { outcome, class: endingClass, message, resetAtMs, waiting } = result;
    const answer = await readAnswer(await this.#parts.holdfast.conversation(to), result.turn);
    this.#showUsage(to, result.model, answer);
    const ended = { message, resetAtMs, upstream: null, end: null };
    const used = usageOf(result.usage);
    const usage = used === null ? {} : { usage: used };
    if (outcome === "waiting") {
      const meta = { waiting: waiting.map(({ request }) => request) };
      return {
        ...ended,
        outcome: "completed",
        class: "completed",
        stop: { reason: "end_turn", ...usage, meta },
      };
    }
    const whole = { ...ended, outcome, class: endingClass ?? "failed" };
    const about =
      endingClass === null || endingClass === "completed" ? {} : { meta: { class: endingClass, message } };
    if (answer?.stopReason === "refusal")
      return { ...whole, stop: { reason: "refusal", ...usage, ...about } };
    if (outcome === "completed") {
      const reason = answer?.stopReason === "maxTokens" ? "max_tokens" : "end_turn";
      return { ...whole, stop: { reason, ...usage, ...about } };
    }
    if (endingClass !== "turn_limit") return whole;
    this.#say(to, `${message}. /continue resumes it.`);
    return { ...whole, stop: { reason: "max_turn_requests", ...usage, ...about } };
  }

  /** How full the model's window is, where both are known. */
  #showUsage(to: string, model: string | null, answer: AssistantMessage | null): void {
    const size = model === null ? null : modelFacts(model).window;
    const { inputTokens, outputTokens = 0 } = answer?.usage ?? {};
    if (size === null || inputTokens === undefined) return;
    this.#parts.show(to, { sessionUpdate: "usage_update", used: inputTokens + outputTokens, size });
  }

  async connect(to: string): Promise<{
    readonly agent: string;
    readonly session: LoopSession;
    readonly reason: null;
    readonly fidelity: "native";
    readonly silent: true;
    readonly priorContext: null;
  }> {
    const { agent } = this.#parts;
    await agent.endAbandonedProcesses(to);
    const session = await agent.session(to);
    return {
      agent: agent.agent,
      session,
      reason: null,
      fidelity: "native",
      silent: true,
      priorContext: null,
    };
  }

  async fork(of: string, options: ForkAsideOptions): Promise<{ readonly conversation: Conversation }> {
    const source = await this.#parts.holdfast.conversation(of);
    const { at, cwd, id, key, prepare } = options;
    const { conversation } = await forkAtCut(source, {
      ...(at === undefined ? {} : { at }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(id === undefined ? {} : { id }),
      ...(key === undefined ? {} : { key }),
    });
    await prepare?.(conversation);
    return { conversation };
  }

  async release(of: string): Promise<void> {
    await this.#parts.loop.pool.release(of);
    await this.#parts.agent.release(of);
  }

  note(to: string, note: Note): Promise<void> {
    return this.#parts.loop.note(to, note);
  }

  cancel(of: string): boolean {
    return this.#parts.loop.cancel(of);
  }

  close(): Promise<void> {
    return this.#parts.loop.close();
  }
}

const DONE: BridgeTurn = {
  outcome: "completed",
  class: "completed",
  message: "",
  resetAtMs: null,
  upstream: null,
  end: null,
  isCommand: true,
  stop: { reason: "end_turn" },
};

const CANCELLED: BridgeTurn = {
  outcome: "interrupted",
  class: "cancelled",
  message: "",
  resetAtMs: null,
  upstream: null,
  end: null,
  isCommand: true,
};

/** Who is told and asked, of what may be said of a prompt. */
function hostOf(options: SendOptions): Host {
  const { agent: _, account, whenLimited, force, key, details, wire, from, ...host } = options;
  return host;
}

function usageOf(usage: Usage): Fields | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return null;
  const [input, output] = [inputTokens ?? 0, outputTokens ?? 0];
  return {
    totalTokens: input + output,
    inputTokens: input,
    outputTokens: output,
    ...(cacheReadTokens === undefined ? {} : { cachedReadTokens: cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cachedWriteTokens: cacheWriteTokens }),
  };
}

/** That it was done is told as a notice. */
function compactedText(compacted: CompactionResult): string {
  if (compacted.state === "compacted") return "";
  if (!("message" in compacted)) return TOO_LITTLE_TO_SUMMARIZE;
  return `The summary failed, so the context is unchanged. ${compacted.message}`;
}

/** The last answer of a turn that has ended; null when it gave none. */
async function readAnswer(conversation: Conversation, turn: string): Promise<AssistantMessage | null> {
  const end = await conversation.latest(["turn_end"]);
  if (end?.turn !== turn || end.node === undefined) return null;
  const last = await conversation.entry(end.node);
  return last.type === "message" && last.message.role === "assistant" ? last.message : null;
}

/** An agent loop for a bridge that carries its conversations with it. */
export function openLoop(options: AgentLoop): LoadedLoop {
  return {
    open({ holdfast, clock, paramsOf, show }) {
      const editor = new EditorServers();
      const shared = options.loop.servers ?? null;
      const servers = (id: string): readonly McpServers[] => [
        ...serversFor(shared, id),
        ...editor.of(id, paramsOf(id)),
      ];
      const loop = new Agent(holdfast, { ...withDefaults({ clock }, options.loop), servers });
      const agent = new LoopAgent(holdfast, loop, options, editor);
      return { turns: new LoopTurns({ holdfast, loop, agent, show }), upstreams: [agent] };
    },
  };
}
