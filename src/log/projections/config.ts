import { type Fields, fieldsIn, fieldsOf, listIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** What a host chose for one agent. */
export interface AgentChoices {
  readonly mode?: string;
  /** Agents of the older protocol name their model apart. */
  readonly model?: string;
  readonly options?: Fields;
}

/** The members of a stored `config` that Holdfast reads and writes. Any other member is a host's own, and stays. */
export interface Config {
  /** The agent that carries the conversation, where one was chosen. */
  readonly agent?: string;
  /** The choices for each agent, by the agent's name: they are set again in every later session. */
  readonly agents?: { readonly [agent: string]: AgentChoices };
  /** The model that worked last, where an agent said so. */
  readonly working?: { readonly agent: string; readonly model: string };
  /** Format 1 had it here when it was worked on elsewhere than where it was begun; format 2 has `cwd` entries. */
  readonly cwd?: string;
  /** More folders that the host gave with the session, as it gave them. */
  readonly additionalDirectories?: Json;
  /** The MCP servers, to be recognised and not to be run: no values of variables and headers, no arguments. */
  readonly mcpServers?: readonly Fields[];
}

/** What a stored config says; a member of another shape says nothing. */
export function readConfig(stored: Fields): Config {
  const { agent, agents, working, cwd, additionalDirectories, mcpServers } = stored;
  const choices = Object.entries(fieldsOf(agents)).map(([name, made]) => [name, readChoices(made)] as const);
  const place = fieldsOf(working);
  const [worker, model] = [textIn(place["agent"]), textIn(place["model"])];
  return {
    ...(typeof agent === "string" ? { agent } : {}),
    ...(choices.length === 0 ? {} : { agents: Object.fromEntries(choices) }),
    ...(worker === null || model === null ? {} : { working: { agent: worker, model } }),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
    ...(Array.isArray(mcpServers) ? { mcpServers: listIn(mcpServers) } : {}),
  };
}

function readChoices(made: Json): AgentChoices {
  const { mode, model, options } = fieldsOf(made);
  const chosen = fieldsIn(options);
  return {
    ...(typeof mode === "string" ? { mode } : {}),
    ...(typeof model === "string" ? { model } : {}),
    ...(chosen === null ? {} : { options: chosen }),
  };
}

/** The choices for an agent in a stored config. */
export function choicesFor(stored: Fields, agent: string): AgentChoices {
  return choicesIn(readConfig(stored), agent);
}

export function choicesIn({ agents = {} }: Config, agent: string): AgentChoices {
  return (Object.hasOwn(agents, agent) ? agents[agent] : undefined) ?? {};
}

/** What the later choices say that the earlier ones do not. */
export function changedChoices(before: AgentChoices, after: AgentChoices): AgentChoices {
  const { mode, model, options = {} } = after;
  const earlier = before.options ?? {};
  const changed = Object.entries(options).filter(
    ([name, value]) =>
      !Object.hasOwn(earlier, name) || JSON.stringify(earlier[name]) !== JSON.stringify(value),
  );
  return {
    ...(mode === undefined || mode === before.mode ? {} : { mode }),
    ...(model === undefined || model === before.model ? {} : { model }),
    ...(changed.length === 0 ? {} : { options: Object.fromEntries(changed) }),
  };
}

/** A config as format 2 has it: the folder is not in it. */
export function withoutCwd({ cwd: _, ...config }: Fields): Fields {
  return config;
}

/** The config with these members replaced; `agents` is changed by `withChoices`. */
export function withConfig(stored: Fields, changed: Omit<Config, "agents" | "cwd">): Fields {
  return { ...stored, ...changed };
}

/** The config with more chosen for an agent; options are chosen one by one. */
export function withChoices(stored: Fields, agent: string, chosen: AgentChoices): Fields {
  const agents = fieldsOf(stored["agents"]);
  const before = fieldsOf(agents[agent]);
  const { options: more = {}, ...rest } = chosen;
  const options = { ...fieldsOf(before["options"]), ...more };
  const merged = { ...before, ...rest, ...(Object.keys(options).length === 0 ? {} : { options }) };
  return { ...stored, agents: { ...agents, [agent]: merged } };
}
