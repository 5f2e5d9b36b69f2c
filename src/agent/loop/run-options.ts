import type { Json } from "#log/json/json-text";
import { idForKey } from "#conversation/id-for-key";
import { LogError } from "#log/errors";
import { parseKey } from "#log/ids";
import type { SeedMessage } from "#log/runs/check-seeds";
import type { ModelInput } from "#agent/models/model";
import { checkPatch, type PromptPatch } from "#agent/prompt/prompt-sections";

/** What begins a run, in a word of the host (`email`, `cron`, `chat`), and which one of these. */
export interface RunTrigger {
  readonly type: string;
  readonly id?: string;
}

/** What may be said of a run when it starts. */
export interface RunOptions {
  /** Free text that runs are found by. */
  readonly mailbox?: string;
  /**
   * What the model sees at its start, fully rendered: it is sent in place of what the conversation says so far, and a system
   * message among it in place of the prompt that is made otherwise.
   */
  readonly seeds?: readonly SeedMessage[];
  /**
   * The run it goes on with: its id, or `latest`. Runs that a chat or a message triggers go on with the latest, unless they have
   * seeds or are told null; others begin by themselves.
   */
  readonly continues?: string | null;
  /** Any JSON, kept with its row. */
  readonly policy?: Json;
  /** Its model is offered these of the agent's tools and no others. */
  readonly tools?: readonly string[];
  /** Sections of the system prompt that are other words in this run; null takes one away. */
  readonly promptPatch?: PromptPatch;
}

export interface StartRunOptions extends RunOptions {
  /** From here on this model is asked; written into the conversation. */
  readonly model?: ModelInput;
}

/** A run that a prompt starts. */
export interface RunInput extends RunOptions {
  readonly trigger: RunTrigger;
}

/** A run that is in the log. */
export interface StartedRun {
  readonly run: string;
  /** Its trigger had started it before: nothing was written. */
  readonly repeated: boolean;
}

const CHAT: RunTrigger = { type: "chat" };
const CONTINUING_TRIGGERS: ReadonlySet<string> = new Set(["chat", "message", "herald-chat"]);
const TYPE_SHAPE = /^[^\s/\p{C}]{1,64}$/u;

/** The run that a prompt starts of which nothing is said. */
export const CHAT_RUN: RunInput = { trigger: CHAT, continues: null };

/** Refuses what cannot be a run, before anything is written. */
export function checkRunInput(trigger: RunTrigger, options: RunOptions): void {
  const { type, id } = trigger;
  if (typeof type !== "string" || !TYPE_SHAPE.test(type))
    throw refused("trigger.type must be 1 to 64 characters without spaces and slashes");
  if (id !== undefined) triggerKey(trigger);
  const { mailbox, continues, tools, promptPatch } = options;
  for (const [name, text] of Object.entries({ mailbox, continues }))
    if (text !== undefined && text !== null && (typeof text !== "string" || text.trim() === ""))
      throw refused(`${name} must be a non-empty string (got ${typeof text})`);
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === "string")))
    throw refused("tools must be an array of tool names");
  if (promptPatch !== undefined) checkPatch(promptPatch);
}

function refused(problem: string): LogError {
  return new LogError("invalid_request", problem);
}

/** Under this key stands the start of the run that a trigger began. */
export function triggerKey({ type, id }: RunTrigger): string {
  if (typeof id !== "string" || id.trim() === "")
    throw refused("trigger.id must be a non-empty string: Holdfast uses it to recognize retries");
  return parseKey(`run/${type}/${id}`);
}

/** The key decides the id: whoever starts the same run, in whichever process, means the same one. */
export function runIdFor(conversation: string, key: string): string {
  return idForKey("run", conversation, key);
}

/** Returns the run to continue: the requested one, or the default for its trigger. */
export function continuedBy({ type }: RunTrigger, { continues, seeds }: RunOptions): string | null {
  if (continues !== undefined) return continues;
  return CONTINUING_TRIGGERS.has(type) && seeds === undefined ? "latest" : null;
}
