import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import { audited } from "./audit-log.ts";
import { checkAccess, type Grant, hashOf, newSecret, SERVER_SPACE } from "./grant.ts";

const LOG: ConversationId = parseConversationId("links");
const LINK = "http_link";
const USED = "http_link_used";
const LINK_MS = 300_000;

/** Launch codes that a command leaves in the store, for whichever server is asked first. Only their hashes are there. */
export class StoredLinks {
  readonly #holdfast: Holdfast;
  readonly #clock: Pick<Clock, "nowMs">;

  constructor(holdfast: Holdfast, clock: Pick<Clock, "nowMs"> = systemClock) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
    this.#clock = clock;
  }

  /** A code for one browser, within five minutes. */
  async add(grant: Grant): Promise<string> {
    checkAccess(grant);
    const code = newSecret("hfc");
    const data = { ...grant, untilMs: (await this.#storeNowMs()) + LINK_MS };
    await audited(this.#holdfast, { space: grant.space, operation: "addLink" }, async () => {
      const log = await this.#holdfast.create({ id: LOG, unlisted: true, key: LOG });
      await log.append({ type: "custom", customType: LINK, data }, { key: `link/${hashOf(code)}` });
    });
    return code;
  }

  /** What a code grants, the first time that it is asked; null: it was used, is too old or never was one. */
  async redeem(code: string): Promise<Grant | null> {
    const log = this.#holdfast.handle(LOG);
    try {
      const found = await log.findAppend(`link/${hashOf(code)}`);
      const entry = found === null ? null : await log.entry(found.lastId);
      if (entry?.type !== "custom") return null;
      const { untilMs, ...grant } = fieldsOf(entry.data);
      const leftMs = Number(untilMs) - (await this.#storeNowMs());
      // A date that was set back does not lengthen it.
      if (!(leftMs > 0 && leftMs <= 2 * LINK_MS)) return null;
      const used = { type: "custom", customType: USED, data: {} } as const;
      const { deduped } = await log.append(used, { key: `used/${hashOf(code)}` });
      return deduped ? null : (grant as object as Grant);
    } catch (error) {
      if (isLogError(error, "conversation_not_found")) return null;
      throw error;
    }
  }

  /** The clock of the store, where it has one: the machine that leaves a code may not be the one that is asked. */
  async #storeNowMs(): Promise<number> {
    const { clockAheadMs = 0 } = (await this.#holdfast.store.health?.()) ?? {};
    return this.#clock.nowMs() + clockAheadMs;
  }
}
