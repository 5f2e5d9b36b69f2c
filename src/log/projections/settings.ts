import type { Entry, EntryOf, Skill } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { readConfig } from "./config.ts";

/** What follows the path besides the messages. */
export interface Settings {
  readonly model: string | null;
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
  const { skill_change: skills, state_change: state } = latest;
  return {
    model: latest.model_change?.model ?? replied,
    config: latest.config_change?.config ?? {},
    skills: skills !== undefined && skills.depth > since ? skills.skills : [],
    state: state !== undefined && state.depth > since ? state.state : null,
  };
}

/**
 * Where a conversation is worked on. Its home is the head, by the latest of the `conversation` and `cwd` entries. Format 1
 * had it in the config when it moved; that counts until a config is written without it.
 */
export function cwdOf(config: Settings["config"], headCwd: string | null): string | null {
  return readConfig(config).cwd ?? headCwd;
}

/** The model that gave the latest reply among entries that come newest first: the default where none was chosen. */
export function repliedModel(entries: readonly Entry[]): string | null {
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "assistant" && entry.message.model !== undefined)
      return entry.message.model;
  }
  return null;
}
