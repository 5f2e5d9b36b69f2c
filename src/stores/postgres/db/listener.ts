/** What is used of a client of node-postgres that hears notifications. */
export interface ListenClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: "error" | "end", lost: () => void): unknown;
  end(): Promise<void>;
  /** Lets the process end though the connection is open. */
  unref(): void;
}

const AGAIN_MS = 1_000;

export interface Listening {
  /** A client that is not connected yet, past any pooler. */
  readonly open: () => Promise<ListenClient>;
  readonly channel: string;
  /** From now on what is sent is heard. */
  readonly onReady: () => void;
  readonly onHint: (hint: string) => void;
}

/** A connection of its own that hears hints while somebody waits. Nothing counts on it: when it is lost, polling goes on. */
export class PgListener {
  readonly #listening: Listening;
  #client: ListenClient | null = null;
  #wanted: boolean = false;
  #ready: boolean = false;
  #again: NodeJS.Timeout | null = null;

  constructor(listening: Listening) {
    this.#listening = listening;
  }

  get ready(): boolean {
    return this.#ready;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#connect();
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    if (this.#again !== null) clearTimeout(this.#again);
    await this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    const { open, channel, onReady, onHint } = this.#listening;
    let client: ListenClient | null = null;
    try {
      const opened = await open();
      client = opened;
      if (!this.#wanted) return;
      this.#client = client;
      for (const event of ["error", "end"] as const) client.on(event, () => void this.#lose(opened));
      client.on("notification", ({ payload = "" }) => onHint(payload));
      await client.connect();
      client.unref();
      await client.query(`listen ${channel}`);
      if (this.#client !== client) return;
      this.#ready = true;
      onReady();
    } catch {
      await this.#lose(client);
    }
  }

  /** Tried again after a while, for as long as somebody waits. */
  async #lose(client: ListenClient | null): Promise<void> {
    if (this.#client !== client) return;
    await this.#drop(client);
    if (!this.#wanted) return;
    this.#again = setTimeout(() => void this.#connect(), AGAIN_MS);
    this.#again.unref();
  }

  async #drop(client: ListenClient | null): Promise<void> {
    this.#client = null;
    this.#ready = false;
    await client?.end().catch(() => undefined);
  }
}
