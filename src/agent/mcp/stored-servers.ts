import type { Json } from "#log/json/json-text";
import { listIn } from "#log/json/json-fields";

type Fields = { readonly [name: string]: Json };

/**
 * The servers as the log keeps them, to be recognised and not to be run: what each is called, its program or the place
 * it is at, and the names of its variables and headers. Their values, arguments and queries may be secrets.
 */
export function withoutSecrets(servers: Json): readonly Fields[] {
  return listIn(servers).map((server) => withoutSecret(server));
}

function withoutSecret({ name, type, command, url, env, headers }: Fields): Fields {
  const place = typeof url === "string" ? { url: placeOf(url) } : {};
  const texts = Object.entries({ name, type, command }).filter(([, value]) => typeof value === "string");
  const lists = Object.entries({ env, headers }).filter(([, value]) => Array.isArray(value));
  const names = lists.map(([list, pairs]) => [list, namesIn(pairs ?? null)] as const);
  return { ...(Object.fromEntries(texts) as Fields), ...place, ...Object.fromEntries(names) };
}

function namesIn(pairs: Json): readonly Fields[] {
  return listIn(pairs).map((pair) => ({ name: pair["name"] ?? null }));
}

function placeOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
