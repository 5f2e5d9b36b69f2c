import type { Entry, EntryBody, EntryOf, Skill } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { readConfig } from "./config.ts";

/** The state along the path besides the messages. */
export interface Settings {
  readonly model: string | null;
  /** Who reported the model: an agent, or the provider it is called at. Absent where unknown. */
  readonly modelProvider?: string;
  readonly config: { readonly [name: string]: Json };
  readonly skills: readonly Skill[];
  readonly state: Json;
}

/** The latest node of each kind on the path, with how deep it lies. */
export interface LatestSettings {
  readonly model_change?: EntryOf<"model_change">;
  readonly config_change?: EntryOf<"config_change">;
  readonly skill_change?: EntryOf<"skill_change"> & { readonly depth: number };
  readonly state_change?: EntryOf<"state_change"> & { readonly depth: number };
  readonly reset?: { readonly depth: number };
}

/** A reset ends skills and state, which reach the model; model and config are the host's settings and stay. */
export function settingsOf(latest: LatestSettings, replied: string | null): Settings {
  const since = latest.reset?.depth ?? -1;
  const { model_change: chosen, skill_change: skills, state_change: state } = latest;
  return {
    model: chosen?.model ?? replied,
    ...(chosen?.provider === undefined ? {} : { modelProvider: chosen.provider }),
    config: latest.config_change?.config ?? {},
    skills: skills !== undefined && skills.depth > since ? skills.skills : [],
    state: state !== undefined && state.depth > since ? state.state : null,
  };
}

/**
 * Whether a model is named as `provider/name`, and so is asked of that provider directly; false when it is an agent's own word
 * for one. Null: the entry does not say whose word it is.
 */
export function isAskedDirectly({
  model,
  modelProvider: provider,
}: Pick<Settings, "model" | "modelProvider">): boolean | null {
  if (model === null) return false;
  return provider === undefined ? null : model === provider || model.startsWith(`${provider}/`);
}

/** From here on this model, named as `provider/name`, is asked. */
export function modelChange(model: string): EntryBody {
  return { type: "model_change", model, provider: model.split("/", 1)[0] ?? model };
}

/** The model by its agent's name for it; the names that our own model calls use are not the agent's. */
export function agentModel(settings: Pick<Settings, "model" | "modelProvider">): string | null {
  return isAskedDirectly(settings) === true ? null : settings.model;
}

/**
 * Where a conversation is worked on. Its home is the head, by the latest of the `conversation` and `cwd` entries. Format 1
 * had it in the config when it moved; that counts until a config is written without it.
 */
export function cwdOf(config: Settings["config"], headCwd: string | null): string | null {
  return readConfig(config).cwd ?? headCwd;
}

/** A model that was not chosen is looked for among so many of the nearest nodes. */
export const REPLY_NODES = 64;

/** A reply that names its model, and how deep it lies. */
export interface LatestReply {
  readonly model: string;
  readonly depth: number;
}

/** The latest reply among entries of a branch that come newest first, the newest of them at this depth. */
export function latestReply(entries: readonly Entry[], depth: number): LatestReply | null {
  for (const [index, entry] of entries.slice(0, REPLY_NODES).entries()) {
    if (entry.type === "message" && entry.message.role === "assistant" && entry.message.model !== undefined)
      return { model: entry.message.model, depth: depth - index };
  }
  return null;
}

/** The model of it, as long as the branch has not grown away from it: the default where none was chosen. */
export function modelRepliedWith(reply: LatestReply | null, leafDepth: number): string | null {
  return reply !== null && leafDepth - reply.depth < REPLY_NODES ? reply.model : null;
}

/** The model that gave the latest reply among entries that come newest first. */
export function repliedModel(entries: readonly Entry[]): string | null {
  return latestReply(entries, 0)?.model ?? null;
}
