import type { EntryBody } from "#log/entry";
import { type Fields, listIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import {
  type AgentChoices,
  type Config,
  choicesIn,
  readConfig,
  withChoices,
  withConfig,
  withoutCwd,
} from "#log/projections/config";
import { cwdOf } from "#log/projections/settings";
import type { ConversationId } from "#log/ids";
import { isModel } from "#edges/acp/agent/session-options";
import { type BridgeParts, agentCommand, agentNames } from "./bridge-parts.ts";
import { isPreamble } from "#upstream/rules/preamble";
import { type Edit, appendElement } from "#edges/acp/wire/splice";
import type { AgentLine } from "#edges/acp/agent/agent-line";
import { type Span, spanAt, stringAt } from "#edges/acp/wire/spans";

type Change = (config: Fields) => Fields;

interface ConversationLog {
  /** The config as the log has it. */
  config(): Promise<Fields>;
  /** Appends what the function returns, which is called while no one else can write. */
  note(bodies: () => Promise<readonly EntryBody[]>): Promise<void>;
}

/** The settings of one conversation: what holds now, written to the log in order. */
export class ConversationSettings {
  /** The config as it was last read or written. */
  #stored: Fields;
  /** Changes that hold already and are not written yet. */
  #pending: Change[] = [];
  #writing: Promise<void> = Promise.resolve();
  /** The options as the session had them when it was opened. */
  #initial: ReadonlyMap<Json, Json> = new Map();
  readonly #log: ConversationLog;

  constructor(stored: Fields, log: ConversationLog) {
    this.#stored = stored;
    this.#log = log;
  }

  get #config(): Fields {
    return this.#pending.reduce((config, change) => change(config), this.#stored);
  }

  get config(): Config {
    return readConfig(this.#config);
  }

  /** These members hold from now on. */
  change(changed: Omit<Config, "agents" | "cwd">): Promise<void> {
    return this.#change((config) => withConfig(config, changed), []);
  }

  /** Where it is worked on, where its head names this folder. */
  folder(headCwd: string | null): string | null {
    return cwdOf(this.#config, headCwd);
  }

  /** It is worked on in another folder from now on. */
  moveTo(cwd: string): Promise<void> {
    return this.#change((config) => withoutCwd(config), [{ type: "cwd", cwd }]);
  }

  /** Stores a choice for an agent; `model` when the choice is a model. */
  choose(agent: string, chosen: AgentChoices, model: string | null): Promise<void> {
    const more: readonly EntryBody[] =
      model === null ? [] : [{ type: "model_change", model, provider: agent }];
    return this.#change((config) => withChoices(config, agent, chosen), more);
  }

  /** The log says which model is at work, whenever another agent or session brings another. */
  async modelAtWork(agent: string, model: string | null): Promise<void> {
    const { working } = this.config;
    if (model === null || (working?.agent === agent && working.model === model)) return;
    const changed = { working: { agent, model } };
    await this.#change(
      (config) => withConfig(config, changed),
      [{ type: "model_change", model, provider: agent }],
    );
  }

  /** Changes the latest stored settings: another window may have written since. */
  #change(change: Change, more: readonly EntryBody[]): Promise<void> {
    const before = this.#config;
    if (more.length === 0 && isSame(change(before), before)) return this.#writing;
    this.#pending.push(change);
    const bodies = async (): Promise<readonly EntryBody[]> => {
      const stored = await this.#log.config();
      const config = change(stored);
      this.#stored = config;
      this.#pending = this.#pending.filter((one) => one !== change);
      return isSame(config, stored) ? more : [{ type: "config_change", config }, ...more];
    };
    // A turn that began meanwhile has taken the conversation over; it takes this along.
    const write = (): Promise<void> => this.#log.note(bodies).catch(() => this.#log.note(bodies));
    // One after the other: two that write at once take the conversation from each other, and one of them is lost.
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** Reads what other windows have written, in order with the writes of this one; returns the settings before. */
  refresh(): Promise<Config> {
    const reading = this.#writing.then(async () => {
      const stored = await this.#log.config();
      const before = this.config;
      this.#stored = stored;
      return before;
    });
    this.#writing = reading.then(
      () => undefined,
      () => undefined,
    );
    return reading;
  }

  /** Remembers the options of a new session, so that later changes can be recognized. */
  sessionBegan(options: Json): void {
    this.#initial = new Map(
      listIn(options).map((option) => [option["id"] ?? null, option["currentValue"] ?? null]),
    );
  }

  /** A session's options now, where they differ from its first ones and are not chosen already. */
  changedSince(agent: string, options: Json): { readonly options: Fields; readonly model: string | null } {
    const { options: chosen = {} } = choicesIn(this.config, agent);
    const differ = listIn(options).filter(
      ({ id = null, currentValue }) =>
        currentValue !== undefined &&
        this.#initial.get(id) !== currentValue &&
        chosen[wordsIn(id)] !== currentValue,
    );
    const values = differ.map((option) => [wordsIn(option["id"]), option["currentValue"] ?? null] as const);
    const model = differ.find((option) => isModel(option))?.["currentValue"];
    return { options: Object.fromEntries(values), model: typeof model === "string" ? model : null };
  }
}

function isSame(one: Fields, other: Fields): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The config as the log has it. */
export async function readStoredConfig({ holdfast }: BridgeParts, id: ConversationId): Promise<Fields> {
  return (await holdfast.handle(id).settings()).config;
}

export interface StoredTitle {
  readonly title: string | null;
  /** A person gave it, or the fork: no agent gives another. */
  readonly isFixed: boolean;
}

export async function readTitle(
  { holdfast }: BridgeParts,
  conversation: ConversationId,
): Promise<StoredTitle> {
  const types = ["title", "conversation"] as const; // a fork begins with a title
  const entry = await holdfast.handle(conversation).latest(types);
  if (entry?.type === "title") return { title: entry.title, isFixed: !("by" in entry) };
  const title = entry?.type === "conversation" ? entry.title : undefined;
  return { title: title ?? null, isFixed: title !== undefined };
}

/** An update of an agent that the bridge keeps something of, or adds something to. */
interface ObservedUpdate {
  readonly kind: keyof typeof EDITED;
  readonly update: Fields;
  /** The member that the bridge may change; null when the update has none. */
  readonly edited: Span | null;
}

/** The kinds that are looked at, with the member that may be changed on the way. */
const EDITED = {
  compaction_update: null,
  current_mode_update: null,
  config_option_update: "configOptions",
  session_info_update: "title",
  available_commands_update: "availableCommands",
} as const;

/** Null for any other line: its bytes are not read again. */
function observedIn({ message, update }: AgentLine): ObservedUpdate | null {
  const kind = update === null ? "" : wordsIn(update["sessionUpdate"]);
  const span = isObserved(kind) ? message.param("update") : null;
  if (update === null || span === null || !isObserved(kind)) return null;
  const member = EDITED[kind];
  const edited = member === null ? null : spanAt(message.bytes, span, [member]);
  return { kind, update, edited };
}

function isObserved(kind: string): kind is keyof typeof EDITED {
  return Object.hasOwn(EDITED, kind);
}

/** The conversation that an agent says something of. */
interface ObservedConversation {
  readonly id: ConversationId;
  readonly upstream: { readonly agent: string };
  readonly settings: ConversationSettings;
  readonly title: StoredTitle;
  setTitle(title: string): Promise<void>;
  agentOption(): Json | null;
}

/** Records what an agent's line reveals about the conversation; returns what the bridge adds to it. */
export function observe(
  parts: BridgeParts,
  conversation: ObservedConversation,
  line: AgentLine,
): readonly Edit[] {
  const observed = observedIn(line);
  if (observed === null) return [];
  const { bytes } = line.message;
  keep(parts, conversation, observed);
  const { kind, edited } = observed;
  if (edited === null) return [];
  if (kind === "session_info_update") return titleEdits(conversation, bytes, edited);
  const own = kind === "config_option_update" ? conversation.agentOption() : agentCommand(agentNames(parts));
  return own === null ? [] : appendElement(bytes, edited, JSON.stringify(own));
}

/** Records what an agent sends about its settings. */
function keep(
  { turns }: BridgeParts,
  { id, upstream, settings }: ObservedConversation,
  { kind, update }: ObservedUpdate,
): void {
  const { agent } = upstream;
  const { currentModeId: mode, configOptions = null, status } = update;
  if (kind === "current_mode_update" && typeof mode === "string")
    inBackground(settings.choose(agent, { mode }, null));
  if (kind === "config_option_update") {
    const { options, model } = settings.changedSince(agent, configOptions);
    if (Object.keys(options).length > 0) inBackground(settings.choose(agent, { options }, model));
  }
  if (kind === "compaction_update" && status === "completed")
    inBackground(turns.note(id, [compactionBody(agent, update)]));
}

/** The title an agent gives is kept, unless a person or a fork gave one, which the host is shown instead; a title made of our own words is replaced, too. */
function titleEdits(conversation: ObservedConversation, bytes: Uint8Array, span: Span): readonly Edit[] {
  const title = stringAt(bytes, span);
  if (title === null || title.trim() === "") return [];
  const { title: stored, isFixed } = conversation.title;
  if (isFixed || isPreamble(title)) return [{ span, text: JSON.stringify(stored) }];
  inBackground(conversation.setTitle(title));
  return [];
}

/** The agent shortened its own memory; ours is as long as it was, so this only tells. */
function compactionBody(agent: string, update: Fields): EntryBody {
  return { type: "custom", customType: "upstream_compaction", data: { agent, ...update } };
}

/** Nothing waits for this write; the next reader of the log sees its outcome. */
export function inBackground(work: Promise<void>): void {
  void work.catch(() => undefined);
}
