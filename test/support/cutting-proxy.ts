import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Lets everything through, but for a reply that is to be lost: then both sides are cut once the server has answered. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
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
    client.on("data", (bytes: Buffer) => {
      if (this.#cutNext) written = Buffer.concat([written, bytes]);
      server.write(bytes);
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
      } else client.write(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return Object(this.#server.address()).port as number;
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
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.pointAt(null);
    await this.#server[Symbol.asyncDispose]();
  }
}
