import type { Json } from "../../../log/json-text.ts";
import { wordsIn } from "../agent/dialect.ts";
import { optionsOf } from "../agent/options.ts";

type Fields = { readonly [name: string]: Json };

/**
 * The servers as the log keeps them: of variables and headers only the names, since their values are secrets, and
 * nothing of what a host keeps to itself in `_meta`.
 */
export function withoutSecrets(servers: Json): readonly Fields[] {
  return optionsOf(servers).map(({ _meta, ...server }) =>
    Object.fromEntries(Object.entries(server).map(nameOnly)),
  );
}

function nameOnly([name, value]: [string, Json]): [string, Json] {
  if (name !== "env" && name !== "headers") return [name, value];
  return [name, optionsOf(value).map((pair) => ({ name: pair["name"] ?? null }))];
}

/**
 * The servers for an agent when the host has not given them again: a value that this environment has under the same
 * name is used, and a server that lacks one is left out.
 */
export function withSecrets(
  servers: Json,
  env: Readonly<Record<string, string | undefined>>,
): readonly Fields[] {
  return optionsOf(servers).flatMap((server) => {
    const full = { ...server };
    for (const list of ["env", "headers"] as const) {
      if (!Array.isArray(server[list])) continue;
      const pairs = optionsOf(server[list]).map((pair) => {
        const name = wordsIn(pair["name"]);
        return { name, value: env[name] };
      });
      if (pairs.some(({ value }) => value === undefined)) return [];
      full[list] = pairs.map(({ name, value }) => ({ name, value: value ?? "" }));
    }
    return [full];
  });
}
