/** What an address holds in the places of a pattern such as `/c/:conversation`. */
export type PathParams = { readonly [name: string]: string };

/** Null: it is not of this form. */
export function matchPath(pattern: string, path: string): PathParams | null {
  const [wanted, given] = [pattern.split("/"), path.replace(/(?<=.)\/$/, "").split("/")];
  if (wanted.length !== given.length) return null;
  const params: { [name: string]: string } = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? "";
    if (!part.startsWith(":")) {
      if (part !== text) return null;
      continue;
    }
    const value = decoded(text);
    if (value === null || value === "") return null;
    params[part.slice(1)] = value;
  }
  return params;
}

/** Hostile addresses are not decoded: they lead nowhere. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export type Query = { readonly [name: string]: string | null | undefined };

/** An address of the UI; what is null or empty is left out. */
export function addressOf(path: string, query: Query = {}): string {
  const texts = Object.entries(query).filter(([, value]) => typeof value === "string" && value !== "");
  if (texts.length === 0) return path;
  return `${path}?${new URLSearchParams(texts as [string, string][]).toString()}`;
}

/** The address of a conversation, or of one of its tabs, or of an entry in it. */
export function conversationAddress(conversation: string, tab: string = "", query: Query = {}): string {
  const path = `/c/${encodeURIComponent(conversation)}`;
  return addressOf(tab === "" ? path : `${path}/${tab}`, query);
}
