import type { Skill } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { Issue } from "#log/projections/issues";
import type { ContextMessage } from "#log/projections/pairs";
import type { Queued } from "#log/projections/queue";
import { cwdOf, isAskedDirectly, type Settings } from "#log/projections/settings";
import type { Conversation } from "#conversation/conversation";
import type { ContextNow } from "#conversation/context-cache";
import type { HeadView } from "#store/requests";
import { type OpenTurn } from "#conversation/list-conversations";
import { readContextAndHead } from "#conversation/reading";
import { stat } from "node:fs/promises";
import type { PermissionAsked } from "#turn/host";
import type { Tool } from "#turn/effects/tool";
import {
  MEMORY_TOOLS,
  refreshMemory,
  type RestoredMemory,
  restoreMemory,
} from "./memory/conversation-memory.ts";
import type { Memory } from "./memory/memory.ts";
import type { McpServers } from "./mcp/mcp-servers.ts";
import { type RestoredServer, restoreServers } from "./mcp/conversation-servers.ts";
import { readInstructions } from "./prompt/instructions.ts";
import { readWaiting } from "./pending-permissions.ts";
import { readOpenRun, readRequestMessages } from "./loop/turn-run.ts";
import { matchSkills, type Skills } from "./skills/skills.ts";
import { SKILL_TOOLS } from "./skills/skill-tools.ts";
import { callsIn } from "./loop/answer-entries.ts";
import { spaceOf } from "#conversation/on-space";

/** Something the conversation names and this host does not have. */
interface Missing {
  readonly kind: "tool" | "skill" | "model" | "server" | "folder" | "instructions";
  readonly name: string;
  readonly message: string;
}

/** Everything a turn would go on from. */
export interface Restored {
  readonly conversation: ConversationId;
  readonly leaf: EntryId;
  /** The run of the open turn. */
  readonly run: string | null;
  /** What the model is sent, every call with its result: in a run with seeds, that run's messages. */
  readonly messages: readonly ContextMessage[];
  /** The prompt among the run's seeds; null: it is made anew for every request. */
  readonly system: string | null;
  readonly model: string | null;
  readonly config: { readonly [name: string]: Json };
  readonly skills: readonly Skill[];
  readonly state: Json;
  readonly cwd: string | null;
  /** MCP servers that the host gave or the log names, and their tools. */
  readonly servers: readonly RestoredServer[];
  /** Words that wait to be delivered. */
  readonly queue: readonly Queued[];
  readonly openTurn: OpenTurn | null;
  /** Calls that wait for a person. */
  readonly waiting: readonly PermissionAsked[];
  /** Memory of other conversations; null if this host has none. */
  readonly memory: RestoredMemory | null;
  /** What did not fit together in the context. */
  readonly issues: readonly Issue[];
  readonly missing: readonly Missing[];
}

/** The host's tools, models, skills and servers, to find what is missing. */
export interface RestoreInput {
  readonly tools?: readonly Tool[] | ((cwd: string | null) => readonly Tool[] | Promise<readonly Tool[]>);
  /** Says why a model cannot be asked here; null when it can. */
  readonly modelProblem?: (model: string) => Promise<string | null>;
  /** Null: there are none. */
  readonly skills?: Skills | null;
  readonly memory?: Memory | null;
  /** The MCP servers that the host has; they are opened. */
  readonly servers?: readonly McpServers[];
}

/** Reads everything back; calls no model, runs no tool and writes nothing. */
export async function restore(conversation: Conversation, input: RestoreInput = {}): Promise<Restored> {
  const now = await readContextAndHead(spaceOf(conversation), conversation.id, null);
  return restoreFrom(conversation, now, input);
}

/** The same where the context is known. */
export async function restoreFrom(
  conversation: Conversation,
  { context, head }: ContextNow,
  input: RestoreInput,
): Promise<Restored> {
  const { id } = conversation;
  const cwd = cwdOf(context.config, head.cwd);
  const run = await readOpenRun(conversation, head);
  const sent = await readRequestMessages(conversation, run, { context, head });
  // Most of it lies on disk, and is waited for side by side.
  const [openTurn, memory, servers, queue, ...missing] = await Promise.all([
    conversation.openTurn(head),
    restoreMemory(input.memory ?? null, conversation, cwd),
    input.servers === undefined ? [] : restoreServers(context.config, input.servers),
    conversation.queue(),
    missingTools(sent.messages, input, cwd),
    missingModel(context, input),
    missingSkills(context.skills, input, cwd),
    missingFolder(cwd),
    missingInstructions(cwd),
  ]);
  const [tools, model, skills, folder, instructions] = missing;
  return {
    conversation: id,
    leaf: context.leaf,
    run: run?.run ?? null,
    messages: sent.messages,
    system: sent.system,
    model: context.model,
    config: context.config,
    skills: context.skills,
    state: context.state,
    cwd,
    servers,
    queue,
    openTurn,
    waiting: openTurn === null ? [] : await readWaiting(conversation),
    memory,
    issues: context.issues,
    missing: [...tools, ...model, ...skills, ...missingServers(servers), ...folder, ...instructions],
  };
}

/**
 * The same again where nobody has written since: servers are looked at, for they come and go, and so is memory, which others
 * change. What lies in files is as it was found before.
 */
export async function restoreAgain(
  before: Restored,
  head: HeadView,
  { servers: hostServers = [], memory = null }: RestoreInput,
): Promise<Restored> {
  const openTurn = before.openTurn === null ? null : { ...before.openTurn, lease: head.lease };
  const isAsked = hostServers.length > 0 || before.servers.length > 0;
  const servers = isAsked ? await restoreServers(before.config, hostServers) : before.servers;
  const missingBefore = (isBefore: boolean): readonly Missing[] =>
    before.missing.filter(({ kind }) => kind !== "server" && BEFORE_SERVERS.has(kind) === isBefore);
  return {
    ...before,
    openTurn,
    servers,
    memory: await refreshMemory(before.memory, memory),
    missing: isAsked
      ? [...missingBefore(true), ...missingServers(servers), ...missingBefore(false)]
      : before.missing,
  };
}

const BEFORE_SERVERS: ReadonlySet<Missing["kind"]> = new Set(["tool", "model", "skill"]);

async function missingTools(
  messages: readonly ContextMessage[],
  { tools, skills, memory }: RestoreInput,
  cwd: string | null,
): Promise<readonly Missing[]> {
  if (tools === undefined) return [];
  const hostTools = typeof tools === "function" ? await tools(cwd) : tools;
  const names = new Set([
    ...hostTools.map(({ name }) => name),
    ...(skills == null ? [] : SKILL_TOOLS),
    ...(memory == null ? [] : MEMORY_TOOLS),
  ]);
  const called = new Set(messages.flatMap(({ content }) => callsIn(content).map(({ name }) => name)));
  return [...called]
    .filter((name) => !names.has(name))
    .map((name) => ({
      kind: "tool",
      name,
      message: `Tool ${name}, which this conversation used, is not available. Its results stay in the context; new calls are rejected.`,
    }));
}

async function missingModel(settings: Settings, input: RestoreInput): Promise<readonly Missing[]> {
  const { model } = settings;
  // Another agent's word for a model is nothing that could be missing here.
  if (model === null || isAskedDirectly(settings) === false) return [];
  const problem = (await input.modelProblem?.(model)) ?? null;
  return problem === null ? [] : [{ kind: "model", name: model, message: problem }];
}

/** Those that are not here, and those that are not as they were activated. */
async function missingSkills(
  active: readonly Skill[],
  { skills }: RestoreInput,
  cwd: string | null,
): Promise<readonly Missing[]> {
  if (skills === undefined) return [];
  const matched = skills === null ? matchSkills(active, []) : await skills.match(active, cwd);
  return matched.flatMap(({ name, problem }) =>
    problem === null ? [] : [{ kind: "skill", name, message: problem }],
  );
}

/** Servers that cannot be called, and what of the others was left out. */
function missingServers(servers: readonly RestoredServer[]): readonly Missing[] {
  return servers.flatMap(({ name, problems }) =>
    problems.map((message): Missing => ({ kind: "server", name, message })),
  );
}

async function missingFolder(cwd: string | null): Promise<readonly Missing[]> {
  if (cwd === null) return [];
  const stats = await stat(cwd).catch(() => null);
  if (stats?.isDirectory() === true) return [];
  const message = `The working directory ${cwd} does not exist. Tools fail until it exists or you move the conversation.`;
  return [{ kind: "folder", name: cwd, message }];
}

/** Instructions that are there and cannot be given to a model as they are. */
async function missingInstructions(cwd: string | null): Promise<readonly Missing[]> {
  const stats = cwd === null ? null : await stat(cwd).catch(() => null);
  if (cwd === null || stats === null) return [];
  const { issues } = await readInstructions(cwd);
  return issues.map(({ path, message }) => ({ kind: "instructions", name: path, message }));
}
