import type { MemoryScopeView } from "#edges/http/client/views";

/** As operations take it. */
export type ScopeAsked = { readonly scope: "user" } | { readonly scope: "project"; readonly project: string };

const PROJECT = "project:";

/** The scope that the address names; the user's unless told. */
export function scopeIn(text: string | null): ScopeAsked {
  return text !== null && text.startsWith(PROJECT) && text.length > PROJECT.length
    ? { scope: "project", project: text.slice(PROJECT.length) }
    : { scope: "user" };
}

/** The same as the address has it; null: the user's. */
export function scopeText(asked: ScopeAsked): string | null {
  return asked.scope === "user" ? null : `${PROJECT}${asked.project}`;
}

/** The log behind a scope, where something was ever remembered in it. */
export function logOf(scopes: readonly MemoryScopeView[], asked: ScopeAsked): MemoryScopeView | null {
  const project = asked.scope === "user" ? null : asked.project;
  return scopes.find((one) => one.project === project) ?? null;
}

/** What can be chosen: the user's first, then projects; also the one that is asked for, where nothing is known of it yet. */
export function scopeChoices(
  scopes: readonly MemoryScopeView[],
  asked: ScopeAsked,
): readonly (readonly [string, string])[] {
  const projects = new Set(scopes.flatMap(({ project }) => (project === null ? [] : [project])));
  if (asked.scope === "project") projects.add(asked.project);
  return [
    ["", "The user, in every conversation"],
    ...[...projects].toSorted().map((project) => [`${PROJECT}${project}`, project] as const),
  ];
}
