import { readChain } from "#conversation/read-chain";
import { readWaiting } from "#agent/read-waiting";
import { ChainReader } from "#log/projections/chain";
import type { RecordApi, Stamp } from "#edges/http/routes/record-api";
import { parseEntryId } from "#log/ids";
import { readEffectRows } from "#transfer/shown/effect-rows";
import { linkDetails, withFidelity } from "#transfer/shown/link-details";
import { countUsage, usageJson, UsageRows } from "#transfer/shown/usage-rows";
import type { HandlersOf } from "./asked.ts";
import { conversationOf } from "./conversation-of.ts";

export const RECORD_HANDLERS: HandlersOf<RecordApi> = {
  async getChain(asked) {
    const conversation = conversationOf(asked);
    const facts = await conversation.facts(["attempt", "upstream_end"]);
    const isDetailed = asked.query.details === true;
    const reader = await readChain(conversation.space, conversation.id, new ChainReader(isDetailed));
    const links = reader.links();
    const details = isDetailed ? linkDetails({ links, carriers: reader.carriers() }, facts) : [];
    const told = withFidelity(links, facts).map(({ seq: _, ...link }, at) =>
      Object.assign(link, details[at]),
    );
    return { conversation: conversation.id, links: told };
  },

  async listStamps(asked) {
    const { entry, entries, upstream } = asked.query;
    const conversation = conversationOf(asked);
    const wanted = [...(entry === undefined ? [] : [entry]), ...(entries ?? [])].map(parseEntryId);
    if (entry !== undefined) await conversation.entry(entry);
    const known = await asked.server.stamps.read(asked.holdfast, conversation);
    const stamps =
      wanted.length === 0
        ? [...known.values()]
        : wanted.map((id): Stamp => known.get(id) ?? { entry: id, upstreams: [] });
    const isOf = ({ upstreams }: Stamp): boolean => upstreams.some(({ id }) => id === upstream);
    return { conversation: conversation.id, stamps: upstream === undefined ? stamps : stamps.filter(isOf) };
  },

  async listEffects(asked) {
    const conversation = conversationOf(asked);
    return { conversation: conversation.id, ...(await readEffectRows(conversation, asked.query)) };
  },

  async getUsage(asked) {
    const rows = new UsageRows();
    const { by = "model" } = asked.query;
    await countUsage(conversationOf(asked), by, rows);
    return usageJson(by, rows.result());
  },

  async listIssues(asked) {
    const conversation = conversationOf(asked);
    return { conversation: conversation.id, ...(await conversation.issuesPage(asked.query)) };
  },

  async listWaiting(asked) {
    const conversation = conversationOf(asked);
    const [queue, waiting] = [await conversation.queue(), await readWaiting(conversation)];
    return { conversation: conversation.id, queue, asked: waiting };
  },
};
