import type { Json } from "#log/json/json-text";

/** Half a character is no text: services refuse a request that holds one, and with it the whole conversation. */
export function safeText(text: string): string {
  return text.toWellFormed();
}

/** The same for every text in a value. What holds none is handed back as it is. */
export function safeJson(value: Json): Json {
  if (typeof value === "string") return safeText(value);
  if (typeof value !== "object" || value === null) return value;
  // JSON writes half a character as an escape, and a whole one as it is.
  if (!/\\ud[89a-f]/i.test(JSON.stringify(value))) return value;
  return mapped(value);
}

function mapped(value: Json): Json {
  if (typeof value === "string") return safeText(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(mapped);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [safeText(name), mapped(member)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
