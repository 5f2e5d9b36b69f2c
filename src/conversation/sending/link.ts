import type { EntryBody } from "../../log/entry.ts";
import type { Upstream } from "./upstream.ts";

/** The link is durable, with its reason, before the first prompt goes to the id. */
export function linkBody(id: string, reason: string | null, upstream: Upstream): readonly EntryBody[] {
  if (reason === null) return [];
  const account = upstream.account === null ? {} : { account: upstream.account };
  return [{ type: "upstream_link", upstream: id, agent: upstream.agent, ...account, reason }];
}
