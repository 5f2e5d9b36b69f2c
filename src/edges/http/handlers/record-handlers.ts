import { readChain } from "#conversation/read-chain";
import { readWaiting } from "#agent/read-waiting";
import { ChainReader, type Link } from "#log/projections/chain";
import type { RecordApi, Stamp } from "#edges/http/routes/record-api";
import { readEffectRows } from "#transfer/shown/effect-rows";
import { linkDetails, withFidelity } from "#transfer/shown/told-links";
import { countUsage, usageJson, UsageRows } from "#transfer/shown/usage-rows";
import type { HandlersOf } from "./asked.ts";
import { conversationOf } from "./conversation-of.ts";

export const RECORD_HANDLERS: HandlersOf<RecordApi> = {
  async getChain(asked) {
    const conversation = await conversationOf(asked);
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
    const { entry, upstream } = asked.query;
    const conversation = await conversationOf(asked);
    if (entry !== undefined)
      return {
        conversation: conversation.id,
        stamps: [stampOf(entry, await conversation.carriersOf(entry))],
      };
    const carriers = (await readChain(conversation.space, conversation.id)).carriers();
    const stamps = [...carriers].map(([id, links]) => stampOf(id, links));
    const isOf = ({ upstreams }: Stamp): boolean => upstreams.some(({ id }) => id === upstream);
    return { conversation: conversation.id, stamps: upstream === undefined ? stamps : stamps.filter(isOf) };
  },

  async listEffects(asked) {
    const conversation = await conversationOf(asked);
    return { conversation: conversation.id, effects: await readEffectRows(conversation) };
  },

  async getUsage(asked) {
    const rows = new UsageRows();
    const { by = "model" } = asked.query;
    await countUsage(await conversationOf(asked), by, rows);
    return usageJson(by, rows.result());
  },

  async listIssues(asked) {
    const conversation = await conversationOf(asked);
    return { conversation: conversation.id, issues: await conversation.issues() };
  },

  async listWaiting(asked) {
    const conversation = await conversationOf(asked);
    const [queue, waiting] = [await conversation.queue(), await readWaiting(conversation)];
    return { conversation: conversation.id, queue, asked: waiting };
  },
};

function stampOf(entry: string, links: readonly Link[]): Stamp {
  return { entry, upstreams: links.map(({ id, agent, account }) => ({ id, agent, account })) };
}
