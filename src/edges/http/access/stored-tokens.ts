import { type Clock, systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { fieldsOf } from "#log/json/json-fields";
import { RIGHTS } from "#edges/http/routes/route";
import { audited } from "./audit-log.ts";
import {
  checkAccess,
  type Grant,
  hashOf,
  LINK_TOKEN,
  LOCAL,
  newSecret,
  SERVER_SPACE,
  THIS_RUN,
} from "./grant.ts";

const LOG = "tokens";
const ADDED = "http_token";
const REMOVED = "http_token_removed";
const LOOK_MS = 1_000;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

/** Names in the audit log that are of no stored token. */
const RESERVED: ReadonlySet<string> = new Set([THIS_RUN, LOCAL, LINK_TOKEN]);

/** A token as it is kept: never itself, only its hash. */
export interface StoredToken extends Grant {
  readonly addedAt: string;
}

interface Known extends StoredToken {
  readonly hash: string;
}

/**
 * The tokens of a store, as a log: every server process on it knows them, and one that is removed works nowhere a second
 * later.
 */
export class StoredTokens {
  readonly #holdfast: Holdfast;
  readonly #clock: Pick<Clock, "steadyMs">;
  readonly #byName = new Map<string, Known>();
  readonly #byHash = new Map<string, Known>();
  #seen = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(holdfast: Holdfast, clock: Pick<Clock, "steadyMs"> = systemClock) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
    this.#clock = clock;
  }

  /** Makes a token. Its text is given here and kept nowhere. */
  async add(grant: Grant): Promise<{ readonly secret: string; readonly token: StoredToken }> {
    checkGrant(grant);
    await this.#look(0);
    if (this.#byName.has(grant.token))
      throw new LogError("invalid_request", `Token ${grant.token} already exists`, {
        token: grant.token,
      });
    const secret = newSecret("hf");
    const { token, space } = grant;
    const act = { space, operation: "addToken", target: token };
    const made = await audited(this.#holdfast, act, () => this.#make(grant, hashOf(secret)));
    return { secret, token: shown(made) };
  }

  async #make({ token, space, rights }: Grant, hash: string): Promise<Known> {
    const log = await this.#holdfast.create({ id: LOG, unlisted: true, key: LOG });
    await log.append({ type: "custom", customType: ADDED, data: { token, space, rights, hash } });
    await this.#look(0);
    const made = this.#byName.get(token);
    if (made?.hash === hash) return made;
    throw new LogError(
      "invalid_request",
      `Another token ${token} was created at the same time. Choose another name.`,
    );
  }

  async list(): Promise<readonly StoredToken[]> {
    await this.#look(0);
    return [...this.#byName.values()].map(shown);
  }

  /** False when there is none of this name. */
  async remove(token: string): Promise<boolean> {
    await this.#look(0);
    const known = this.#byName.get(token);
    if (known === undefined) return false;
    const act = { space: known.space, operation: "removeToken", target: token };
    await audited(this.#holdfast, act, async () => {
      const log = await this.#holdfast.conversation(LOG);
      await log.append({ type: "custom", customType: REMOVED, data: { token } });
    });
    await this.#look(0);
    return true;
  }

  /** The same without a look at what came within the last second. */
  async known(secret: string): Promise<Grant | null> {
    await this.#look(LOOK_MS);
    return this.#byHash.get(hashOf(secret)) ?? null;
  }

  async find(secret: string): Promise<Grant | null> {
    const hash = hashOf(secret);
    await this.#look(LOOK_MS);
    // One that is not known may have been made since.
    if (!this.#byHash.has(hash)) await this.#look(0);
    return this.#byHash.get(hash) ?? null;
  }

  /** Reads what is new, unless that was done a moment ago. */
  async #look(withinMs: number): Promise<void> {
    if (this.#looking !== null) await this.#looking;
    if (this.#clock.steadyMs() - this.#lookedAtMs < withinMs) return;
    this.#looking ??= this.#read().finally(() => void (this.#looking = null));
    await this.#looking;
  }

  async #read(): Promise<void> {
    try {
      const log = this.#holdfast.handle(LOG);
      const { headSeq } = await log.head();
      if (headSeq > this.#seen)
        for await (const stored of log.log({ after: this.#seen })) this.#add(decodeEntry(stored));
    } catch (error) {
      if (!isLogError(error, "conversation_not_found")) throw error;
    }
    this.#lookedAtMs = this.#clock.steadyMs();
  }

  #add(entry: Entry): void {
    this.#seen = entry.seq;
    if (entry.type !== "custom") return;
    const { token, space, rights, hash } = fieldsOf(entry.data);
    if (typeof token !== "string") return;
    const before = this.#byName.get(token);
    if (entry.customType === REMOVED && before !== undefined) {
      this.#byName.delete(token);
      this.#byHash.delete(before.hash);
    }
    const right = RIGHTS.find((one) => one === rights);
    if (entry.customType !== ADDED || before !== undefined || right === undefined) return;
    if (typeof space !== "string" || typeof hash !== "string") return;
    const known = { token, space, rights: right, hash, addedAt: entry.time };
    this.#byName.set(token, known);
    this.#byHash.set(hash, known);
  }
}

function shown({ token, space, rights, addedAt }: Known): StoredToken {
  return { token, space, rights, addedAt };
}

function checkGrant(grant: Grant): void {
  const { token } = grant;
  if (!NAME.test(token))
    throw new LogError(
      "invalid_request",
      `Invalid token name "${token}". Use 1 to 64 letters, digits, ".", "_" and "-".`,
    );
  if (RESERVED.has(token))
    throw new LogError("invalid_request", `The name ${token} is reserved in the audit log. Choose another.`);
  checkAccess(grant);
}
