import type { EntryBody } from "#log/entry";
import type { Upstream } from "#upstream/upstream";

/** The link is durable, with its reason, before the first prompt goes to the id. */
export function linkBody(
  link: { readonly id: string; readonly reason: string | null; readonly node?: string | null },
  upstream: Upstream,
): readonly EntryBody[] {
  const { id, reason, node = null } = link;
  if (reason === null) return [];
  const account = upstream.account === null ? {} : { account: upstream.account };
  const place = node === null ? {} : { node };
  return [{ type: "upstream_link", upstream: id, agent: upstream.agent, ...account, reason, ...place }];
}
