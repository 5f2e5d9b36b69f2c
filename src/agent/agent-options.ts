import type { AssistantMessage, Usage, ToolResultMessage } from "#log/message";
import type { Json } from "#log/json/json-text";
import { checkNumbers, withDefaults } from "#log/with-defaults";
import { type Clock, systemClock } from "#conversation/clock";
import { systemIdsAndTime } from "#store/prepare";
import type { Tool } from "#turn/effects/tool";
import type { Host, PermissionAsked } from "#turn/host";
import type { EndedTurn } from "#turn/turns";
import { asPool, type Pool, type PoolOptions } from "#turn/pool";
import { endRecordedProcess } from "#turn/effects/left-processes";
import { isDeadProcess } from "#turn/running-process";
import type { StepFacts } from "./loop/answer-entries.ts";
import type { AgentModel, ModelInput } from "./models/model.ts";
import { openModel, wholeModel } from "./models/open-model.ts";
import type { DurableStep } from "./steps/engine-steps.ts";
import type { Skills } from "./skills/skills.ts";
import { skillTools } from "./skills/skill-tools.ts";
import type { Memory } from "./memory/memory.ts";
import { serversFor, serverTools, type ServersInput } from "./mcp/conversation-servers.ts";
import type { RunInput } from "./loop/run-options.ts";
import type { Decision, PermissionPolicy } from "./tools/permissions.ts";
import { fieldsIn } from "#log/json/json-fields";
import { type ConversationMemory, withMemoryTools } from "./memory/conversation-memory.ts";
import { toolsByName } from "./tools/tool-schema.ts";

/** A call before it is run. */
export interface CallToDecide {
  readonly tool: Tool;
  readonly input: Json;
  /** Where the conversation is worked on. */
  readonly cwd: string | null;
}

/** Whether a call may run: by rules, or by a function of one's own; `ask` leaves it to a person. */
export type Permission = PermissionPolicy | ((call: CallToDecide) => Decision | Promise<Decision>);

/** What has no effect may run; everything else is a person's to decide. */
export const askForEffects: Permission = ({ tool }) => (tool.effect === "none" ? "allow" : "ask");

/** When and how a conversation is summarised. */
interface CompactionOptions {
  /** Tokens of the model's window that are kept free. */
  readonly reserveTokens?: number;
  /** Tokens of the newest messages that stay word for word. */
  readonly keepTokens?: number;
  /** The model that writes the summary (default: the conversation's own). */
  readonly model?: ModelInput;
}

export interface AgentOptions {
  /** Who is asked in conversations that have chosen no model. */
  readonly model: ModelInput;
  /**
   * Who is asked in its place, in this order, where the model of a conversation is overloaded, at a limit, out of credit or not
   * reachable before any of its answer came, until the turn ends (default: none).
   */
  readonly fallbackModels?: readonly ModelInput[];
  /** A function gives the tools for the folder a conversation is worked on in. */
  readonly tools?: readonly Tool[] | ((cwd: string | null) => readonly Tool[]);
  /** What stands in for each tool, also those of skills, memory and servers; replays use it. */
  readonly replaceTool?: (tool: Tool) => Tool;
  /** Decides which calls may run (default: tools with side effects ask). */
  readonly permission?: Permission;
  /** What to do with a call that needs permission when no user can answer: park the turn, or refuse the call. */
  readonly whenAsked?: "park" | "refuse";
  /** What the model is told of its task, in front of the instructions of the project. */
  readonly system?: string;
  /** Reads AGENTS.md files from the project's root down to the conversation's folder (default: true). */
  readonly instructions?: boolean;
  /** The skills of the host (default: none). */
  readonly skills?: Skills | null;
  /** Memory across conversations (default: none). It adds the tools `remember` and `recall`. */
  readonly memory?: Memory | null;
  /** MCP servers whose tools models may call. The host that opens them closes them. */
  readonly servers?: ServersInput | null;
  /** How many calls of one answer run side by side. */
  readonly parallelCalls?: number;
  /** How long a tool without a timeout of its own may run (default: 10 min). */
  readonly toolTimeoutMs?: number;
  readonly maxSteps?: number;
  /** Ends a turn after a step, beside the reasons there are always. */
  readonly stopWhen?: (facts: StepFacts) => boolean;
  /** What a tool's result makes of the conversation's state. */
  readonly state?: StateRule;
  /** Which answers are not for people's history. */
  readonly isInternal?: (message: AssistantMessage) => boolean;
  /** Null: the conversation is summarised only when asked. */
  readonly compaction?: CompactionOptions | null;
  /** Opens the models that are named. */
  readonly openModel?: (model: ModelInput) => Promise<AgentModel>;
  /**
   * What is held of conversations between turns, so that a turn need not read its context again: `hybrid` within limits
   * unless told. A pool that is handed in may be shared, and is closed by whoever made it.
   */
  readonly pool?: Pool | PoolOptions;
  readonly clock?: Clock;
  /** The name of this host. A host of the same name may take over its conversations. */
  readonly writer?: string;
  readonly isDead?: (writer: string) => Promise<boolean>;
  /**
   * Ends the process of an agent of another kind that may be at work in a turn nobody ended, before the loop goes on in it. Unless
   * said otherwise: the process group of this machine that its record names.
   */
  readonly endProcess?: (process: string) => Promise<void>;
  readonly leaseMs?: number;
  /** How long a model may say nothing. */
  readonly silenceMs?: number;
  /** A rate limit that ends within this time is waited for (default: 60 s); a longer one ends the turn. */
  readonly waitForLimitMs?: number;
  readonly newId?: () => string;
}

export type ResolvedOptions = Required<Omit<AgentOptions, "writer" | "isInternal" | "stopWhen" | "pool">> &
  Pick<AgentOptions, "writer" | "isInternal" | "stopWhen"> & { readonly pool: Pool };

/** The tools of a conversation that is worked on in this folder: the host's own, and those of what else it gave. */
export async function toolsFor(
  { tools, skills, servers }: Pick<ResolvedOptions, "tools" | "skills" | "servers">,
  cwd: string | null,
  conversation: string,
): Promise<readonly Tool[]> {
  const own = [
    ...(typeof tools === "function" ? tools(cwd) : tools),
    ...(skills === null || (await skills.list(cwd)).skills.length === 0 ? [] : skillTools(skills, cwd)),
  ];
  return [...own, ...(await serverTools(serversFor(servers, conversation), own))];
}

const PARALLEL_CALLS = 8;
const STEPS_MAX = 200; // a loop that goes on for longer is stopped and may be gone on with

function agentDefaults(): Omit<ResolvedOptions, "model" | "pool" | "writer" | "isInternal" | "stopWhen"> {
  return {
    fallbackModels: [],
    tools: [],
    replaceTool: (tool) => tool,
    permission: askForEffects,
    whenAsked: "park",
    system: "",
    instructions: true,
    skills: null,
    memory: null,
    servers: null,
    parallelCalls: PARALLEL_CALLS,
    toolTimeoutMs: 600_000,
    maxSteps: STEPS_MAX,
    state: applyStateUpdate,
    compaction: {},
    openModel: (model) => openModel(model),
    clock: systemClock,
    isDead: isDeadProcess,
    endProcess: endRecordedProcess,
    leaseMs: 30_000,
    silenceMs: 300_000,
    waitForLimitMs: 60_000,
    newId: () => systemIdsAndTime.newId(),
  };
}

/** Says what the caller got wrong before anything is begun. */
export function resolveOptions(input: AgentOptions): ResolvedOptions {
  checkNumbers(input, {
    parallelCalls: "count",
    maxSteps: "count",
    toolTimeoutMs: "limit",
    leaseMs: "amount",
    silenceMs: "limit",
    waitForLimitMs: "amount",
  });
  checkNumbers(input.compaction ?? {}, { reserveTokens: "amount", keepTokens: "amount" });
  const { model } = input;
  if (typeof model === "object" && model !== null && "model" in model) wholeModel(model);
  const options = withDefaults(agentDefaults(), input);
  const openWhole = async (choice: ModelInput): Promise<AgentModel> =>
    wholeModel(await options.openModel(choice));
  return { ...options, openModel: openWhole, pool: asPool(input.pool ?? {}) };
}

/** What may be said of one turn. */
export interface AgentTurnOptions extends Host {
  /** From here on this model is asked; written into the conversation. */
  readonly model?: ModelInput;
  readonly maxSteps?: number;
  /** Microdollars this turn may cost; refused where the model's price is not known. */
  readonly maxCostMicros?: number;
  /** As in the runtime: the same key is the same turn. */
  readonly key?: string;
}

/** What may be said of a turn that is carried to its end. */
export interface AgentCarryOptions extends AgentTurnOptions {
  /** Each step of the turn is a step of this task, in an engine for durable work. */
  readonly steps?: DurableStep;
}

export interface AgentSendOptions extends AgentCarryOptions {
  /**
   * The run that the prompt starts, or the id of one that is started and that it is carried with, once. Every prompt starts
   * a run; unless told, one that a chat has triggered.
   */
  readonly run?: RunInput | string;
  /** Kept with the message and never sent to a model. */
  readonly details?: Json;
}

/** What became of a turn. `waiting`: it is parked until its questions are answered. */
export interface AgentResult extends EndedTurn {
  /** The run it belongs to; null for a turn that was begun before turns had one. */
  readonly run: string | null;
  readonly model: string | null;
  readonly steps: number;
  /** Of all attempts of this turn that were made by this call. */
  readonly usage: Usage;
  readonly waiting: readonly PermissionAsked[];
}

/** What a result makes of the conversation's state; the same value where it changes nothing. */
type StateRule = (state: Json, result: ToolResultMessage) => Json;

/** A result carries the members that change; null takes one away. What failed changes nothing. */
export const applyStateUpdate: StateRule = (state, { details, isError }) => {
  const update = fieldsIn(fieldsIn(details)?.["stateUpdate"]);
  if (update === null || isError === true) return state;
  const members: { [name: string]: Json } = { ...fieldsIn(state) };
  for (const [name, value] of Object.entries(update)) {
    if (value === null) delete members[name];
    else members[name] = value;
  }
  return members;
};

/** The state after these results, in their order: what the stored one has to equal. */
export function stateAfter(
  before: Json,
  results: Iterable<ToolResultMessage>,
  rule: StateRule = applyStateUpdate,
): Json {
  let state = before;
  for (const result of results) state = rule(state, result);
  return state;
}

/** Every tool of a turn by its name: the host's own, those of what else it gave, and whatever stands in for them. */
export async function turnTools(
  options: Pick<ResolvedOptions, "tools" | "skills" | "servers" | "replaceTool">,
  place: {
    readonly cwd: string | null;
    readonly conversation: string;
    readonly memory: Pick<ConversationMemory, "tools"> | null;
  },
): Promise<ReadonlyMap<string, Tool>> {
  const all = withMemoryTools(await toolsFor(options, place.cwd, place.conversation), place.memory);
  return toolsByName(all.map((tool) => options.replaceTool(tool)));
}
