import { mayDo } from "#edges/http/access/grant";
import type { HandlersOf } from "#edges/http/handlers/asked";
import { FORMAT_VERSION } from "#log/entry";
import { SCHEMA_VERSION } from "#transfer/context-text";
import type { FigureApi } from "./figure-api.ts";

const COUNTED_MAX = 10_000; // conversations; more are said to be more
const COUNTED_AT_ONCE = 500;

export const FIGURE_HANDLERS: HandlersOf<FigureApi> = {
  async getStore({ server, holdfast, grant }) {
    const { address, bytes } = server.place;
    const counted = { listed: 0, unlisted: 0 };
    const damaged: string[] = [];
    let more = false;
    for (const kind of ["listed", "unlisted"] as const) {
      let after: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof holdfast.space.list>> = await holdfast.space.list({
          limit: COUNTED_AT_ONCE,
          unlisted: kind === "unlisted",
          ...(after === null ? {} : { after }),
        });
        counted[kind] += page.conversations.length;
        damaged.push(...page.conversations.flatMap((one) => (one.damage === null ? [] : [one.conversation])));
        after = page.next;
      } while (after !== null && counted[kind] < COUNTED_MAX);
      more ||= after !== null;
    }
    return {
      kind: address?.split(":")[0] ?? null,
      address: mayDo(grant, "admin") ? address : null,
      bytes: (await bytes?.()) ?? null,
      formatVersion: FORMAT_VERSION,
      schemaVersion: SCHEMA_VERSION,
      conversations: counted.listed,
      unlisted: counted.unlisted,
      more,
      damaged,
    };
  },

  checkSpace: async ({ holdfast }) => ({ findings: await holdfast.check({ repair: false }) }),
};
