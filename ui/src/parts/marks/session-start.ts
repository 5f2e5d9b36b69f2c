import type { Api } from "#edges/http/client/index";
import { safeLine } from "#transfer/views/safe-text";
import { reasonText } from "#operations/text";
import { carrierLetter } from "./carrier.tsx";

export type Links = readonly Omit<Api["getChain"]["response"]["links"][number], "fidelity">[];

/**
 * Why the session at this place started. The reason is about the session before it of the same agent and account: that one
 * expired, or was lost.
 */
export function startWords(links: Links, place: number): string {
  const link = links[place];
  if (link === undefined) return "";
  const before = links
    .slice(0, place)
    .findLastIndex(({ agent, account }) => agent === link.agent && account === link.account);
  return safeLine(
    reasonText(link.reason, before === -1 ? "the one before" : `session ${carrierLetter(before)}`),
  );
}

/** Whether the conversation continues in this session: the last one, unless a fork only inherited it. */
export function isCurrent(links: Links, place: number): boolean {
  return place === links.length - 1 && links[place]?.inherited === false;
}
