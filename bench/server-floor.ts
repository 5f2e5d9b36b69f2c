import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import pg from "pg";
import type { EntryBody } from "../src/log/entry.ts";
import { BareReader } from "./bare.ts";
import { BARE, BareRows } from "./bare-postgres.ts";
import { BareThread } from "./bare-thread.ts";

/** Where rows go and come from. */
interface FloorStore {
  append(lane: number, bodies: readonly EntryBody[]): Promise<unknown>;
  newest(lane: number, count: number): Promise<readonly string[]>;
}

const PAYLOADS = "SELECT payload FROM entries WHERE conversation = ? ORDER BY seq DESC LIMIT ?";
const PG_PAYLOADS =
  "select payload from bare where space = 'default' and conversation = $1 order by seq desc limit $2";
const CONNECTIONS = 10; // as many as a store opens
const CHECKPOINT_FRAMES = 1_000;

async function sqliteStore(path: string): Promise<FloorStore> {
  const writer = await BareThread.open({ path, checkpointFrames: CHECKPOINT_FRAMES });
  const payloads = new BareReader(path).arrays(PAYLOADS);
  return {
    append: (lane, bodies) => writer.append(lane, bodies),
    newest: async (lane, count) => (payloads.all(lane, count) as unknown as [string][]).map(([text]) => text),
  };
}

async function postgresStore(url: string): Promise<FloorStore> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  await pool.query(BARE);
  const rows = new BareRows(pool, "append");
  return {
    append: (lane, bodies) => rows.append(lane, bodies),
    async newest(lane, count) {
      const values = [`log-${lane}`, count];
      const found = await pool.query<[string]>({
        name: "newest",
        text: PG_PAYLOADS,
        values,
        rowMode: "array",
      });
      return found.rows.map(([text]) => text);
    },
  };
}

/**
 * What someone would write who has only `node:http` and the driver: a token is looked up by its hash, rows are written as
 * durably as ours, and pushed to the tails. None of the rules, no audit log, no checks.
 */
class FloorServer {
  readonly #store: FloorStore;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #tails = new Map<number, Set<ServerResponse>>();

  constructor(store: FloorStore, token: string) {
    this.#store = store;
    this.#tokens = new Map([[hash("sha256", token), "bench"]]);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = "" } = request.headers;
    if (!this.#tokens.has(hash("sha256", authorization.slice("Bearer ".length))))
      return void response.writeHead(401).end();
    const [, verb, lane = ""] = (request.url ?? "").split("/");
    if (verb === "append") return this.#append(Number(lane), request, response);
    if (verb === "context") return this.#context(Number(lane), response);
    const tails = this.#tails.get(Number(lane)) ?? new Set();
    this.#tails.set(Number(lane), tails.add(response));
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    response.once("close", () => tails.delete(response));
  }

  async #append(lane: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    request.setEncoding("utf8");
    for await (const chunk of request) text += String(chunk);
    const { entries } = JSON.parse(text) as { readonly entries: readonly EntryBody[] };
    await this.#store.append(lane, entries);
    answerJson(response, `{"entries":${entries.length}}`);
    const tails = this.#tails.get(lane);
    if (tails === undefined) return;
    const bytes = Buffer.from(
      entries.map((entry) => `event: entry\ndata: ${JSON.stringify(entry)}\n\n`).join(""),
    );
    for (const tail of tails) tail.write(bytes);
  }

  async #context(lane: number, response: ServerResponse): Promise<void> {
    const payloads = await this.#store.newest(lane, 20);
    answerJson(response, `{"messages":[${payloads.toReversed().join(",")}]}`);
  }
}

function answerJson(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
  });
  response.end(text);
}

const [kind = "", place = "", token = ""] = process.argv.slice(2);
const floor = new FloorServer(await (kind === "SQLite" ? sqliteStore(place) : postgresStore(place)), token);
const server = createServer((request, response) => {
  floor.answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, "127.0.0.1", () => console.log(Object(server.address()).port));
