import { afterAll, beforeAll, expect } from "vitest";
import type { Conversation } from "#conversation/conversation";
import type { Client } from "#edges/http/client/index";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../../cli/cli-here.ts";
import { jsonLines } from "../../cli/cli-run.ts";
import { fill } from "../example-conversation.ts";
import { serve, type Served } from "../served.ts";

/** The address of a store that is made for these cases; null: one in memory, which no other process can look at. */
export type StoreAddress = (folder: string) => string | null;

/** A server on such a store with a conversation `a`, before the cases of a group. */
export class RouteRig {
  readonly #folder = tempDir();
  readonly #storeOf: StoreAddress;
  #store: string | null = null;
  #served: Served | null = null;
  #client: Client | null = null;
  #conversation: Conversation | null = null;
  token: string = "";

  constructor(storeOf: StoreAddress) {
    this.#storeOf = storeOf;
    beforeAll(() => this.#begin());
    afterAll(async () => {
      await this.served[Symbol.asyncDispose]();
      this.#folder[Symbol.dispose]();
    });
  }

  async #begin(): Promise<void> {
    this.#store = this.#storeOf(this.#folder.path);
    const place = { address: "sqlite:HERE", bytes: async () => 7 };
    this.#served = await serve({ store: this.#store ?? "memory:", cwd: this.#folder.path, place });
    this.token = await this.served.token("admin");
    this.#client = this.served.client(this.token);
    this.#conversation = await this.served.holdfast.create({ id: "a", title: "First" });
    await fill(this.conversation);
  }

  get folder(): string {
    return this.#folder.path;
  }

  get served(): Served {
    return there(this.#served);
  }

  get client(): Client {
    return there(this.#client);
  }

  get conversation(): Conversation {
    return there(this.#conversation);
  }

  /** What a command prints of the same store. */
  async cli(...args: readonly string[]): Promise<readonly object[] | null> {
    if (this.#store === null) return null;
    const { status, out, err } = await holdfastHere(this.#store, [...args, "--json"]);
    expect([status, err]).toEqual([0, ""]);
    return jsonLines(out);
  }

  async sameAsCli(given: object, ...args: readonly string[]): Promise<void> {
    const [printed] = (await this.cli(...args)) ?? [given];
    expect(given).toEqual(printed);
  }
}

function there<T>(one: T | null): T {
  if (one === null) throw new Error("The server has not been started");
  return one;
}
