import { createHash } from "node:crypto";
import type { PgClient, PgQuery } from "./connections.ts";
import { stateOf } from "./postgres-errors.ts";

/** The connection has no statement of that name, or another one, or its answer has changed its shape: nothing was done. */
const UNUSABLE: ReadonlySet<string> = new Set(["26000", "42P05", "0A000"]);
const NAME_CHARS = 24;

/**
 * Names under which a connection parses and plans a statement once. Behind a pooler there are none: it gives the process
 * of the server that has parsed a statement to anybody.
 */
export class StatementNames {
  readonly #byText = new Map<string, string>();
  #isUsed = false;

  /** Finds out whether a connection has a process of the server to itself: a pooler tells its clients another process. */
  async find(client: PgClient, query: Omit<PgQuery, "text" | "values">): Promise<void> {
    const { rows } = await client.query({ ...query, text: "select pg_backend_pid()", values: [] });
    const [row] = rows as readonly (readonly unknown[])[];
    this.#isUsed = typeof client.processID === "number" && row?.[0] === client.processID;
  }

  /** Sends a statement under its name where it may have one, and without from the first time on that this fails. */
  async send<T>(text: string, send: (name: { readonly name?: string }) => Promise<T>): Promise<T> {
    if (!this.#isUsed) return send({});
    try {
      return await send({ name: this.#nameOf(text) });
    } catch (error) {
      if (!UNUSABLE.has(stateOf(error))) throw error;
      this.#isUsed = false;
      return send({});
    }
  }

  /** By the text, so that no two statements share a name, whoever prepared them. */
  #nameOf(text: string): string {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const name = `holdfast_${createHash("sha256").update(text).digest("hex").slice(0, NAME_CHARS)}`;
    this.#byText.set(text, name);
    return name;
  }
}
