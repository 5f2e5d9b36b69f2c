import type { Told } from "#log/entry";
import { isNothing, type PriorContext } from "./prior-context.ts";

/** What an upstream was told of what came before, for the log; null when it was told nothing. */
export function toldOf(prior: PriorContext): Told | null {
  if (isNothing(prior)) return null;
  const { summary, outline, messages } = prior;
  const [first] = messages;
  return {
    messages: messages.length,
    ...(first === undefined ? {} : { from: first.entryId }),
    leftOut: outline?.messages ?? 0,
    ...(outline?.more === true ? { more: true } : {}),
    ...(summary === null ? {} : { summary: true }),
    effects: prior.effects.length + prior.elsewhere.length,
  };
}

/** The same for people: what was carried, and what was not. */
export function toldInWords(told: Told): string {
  const { messages, leftOut, more = false, summary = false, effects } = told;
  const all = leftOut === 0 && !more && !summary;
  const carried = all
    ? `all ${counted(messages, "message")}`
    : `the last ${counted(messages, "message")} word for word`;
  const before = leftOut === 0 && !more ? "" : `${more ? "more than " : ""}${leftOut} before them in outline`;
  const parts = [
    summary ? "the summary" : "",
    before,
    messages === 0 ? "" : carried,
    effects === 0 ? "" : counted(effects, "action"),
  ].filter((part) => part !== "");
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
