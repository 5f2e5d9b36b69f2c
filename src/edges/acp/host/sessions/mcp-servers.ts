import type { Json } from "../../../../log/json-text.ts";
import { optionsOf } from "../../agent/meaning/options.ts";

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
