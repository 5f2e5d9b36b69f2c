import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Which way nothing goes through: what clients say, or what the server answers. */
export type Silence = "statements" | "answers";

/** One way of a connection. While it is silent neither bytes nor an end go through, as with a cable that was pulled. */
interface Way {
  readonly way: Silence;
  isSilent: boolean;
  /** Passes on what was kept back; resolves when the other side of a connection that has ended is over as well. */
  readonly speak: () => Promise<void>;
}

/**
 * Lets everything through, but for a reply that is to be lost: then both sides are cut once the server has answered. It can also
 * fall silent.
 */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ways = new Set<Way>();
  #silence: Silence | null = null;
  #target: number | null;
  #cutNext: boolean = false;
  #isStalled = false;
  cuts: number = 0;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => {
      if (this.#target === null) client.destroy();
      else this.#join(client, connect(this.#target, "127.0.0.1"));
    });
  }

  #join(client: Socket, server: Socket): void {
    if (this.#isStalled) for (const one of [client, server]) one.pause();
    let written = Buffer.alloc(0);
    const sendServer = this.#way("statements", client, server);
    const sendClient = this.#way("answers", server, client);
    client.on("data", (bytes: Buffer) => {
      if (this.#cutNext) written = Buffer.concat([written, bytes]);
      sendServer(bytes);
    });
    server.on("data", (bytes) => {
      // Only what writes is of interest: a lost question is asked again.
      const writes = /append_\d|insert into|update /.test(written.toString("latin1"));
      written = Buffer.alloc(0);
      if (this.#cutNext && writes) {
        this.#cutNext = false;
        this.cuts++;
        client.destroy();
        server.destroy();
      } else sendClient(bytes);
    });
  }

  #way(name: Silence, from: Socket, to: Socket): (bytes: Buffer) => void {
    const kept: Buffer[] = [];
    let isOver = false;
    const over = Promise.withResolvers<void>();
    to.once("close", () => over.resolve());
    const way: Way = {
      way: name,
      isSilent: this.#silence === name,
      speak: async () => {
        way.isSilent = false;
        for (const bytes of kept.splice(0)) to.write(bytes);
        if (!isOver) return;
        to.end();
        await over.promise;
      },
    };
    this.#ways.add(way);
    this.#sockets.add(from);
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#sockets.delete(from);
      isOver = true;
      if (!way.isSilent) to.destroy();
    });
    to.on("close", () => this.#ways.delete(way));
    return (bytes) => (way.isSilent ? void kept.push(bytes) : void to.write(bytes));
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return Object(this.#server.address()).port as number;
  }

  /** Nothing goes this way from here on: over those who are connected, and, unless told otherwise, whoever connects. */
  silence(way: Silence, { alsoNew = true }: { readonly alsoNew?: boolean } = {}): void {
    if (alsoNew) this.#silence = way;
    for (const one of this.#ways) one.isSilent ||= one.way === way;
  }

  /** What was kept back arrives late, also of clients that have gone since; resolves when the server is done with those. */
  async speak(): Promise<void> {
    this.#silence = null;
    await Promise.all([...this.#ways].map((way) => way.speak()));
  }

  cutNextReply(): void {
    this.#cutNext = true;
  }

  /** While it is on, nothing comes through, and nothing is cut: a network that is silent. */
  stall(on: boolean): void {
    this.#isStalled = on;
    for (const socket of this.#sockets) if (on) socket.pause();
    if (!on) for (const socket of this.#sockets) socket.resume();
  }

  /** Cuts whoever is connected; from then on it leads to that port, or, with null, nowhere. */
  pointAt(target: number | null): void {
    this.#target = target;
    this.#silence = null;
    for (const way of this.#ways) way.isSilent = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.pointAt(null);
    await this.#server[Symbol.asyncDispose]();
  }
}
