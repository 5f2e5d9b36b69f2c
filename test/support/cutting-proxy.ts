import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

/** Lets everything through, but for a reply that is to be lost: then both sides are cut once the server has answered. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  #cutNext: boolean = false;
  cuts: number = 0;

  constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      let written = Buffer.alloc(0);
      client.on("data", (bytes: Buffer) => {
        written = Buffer.concat([written, bytes]);
        server.write(bytes);
      });
      server.on("data", (bytes) => {
        // Only what writes is of interest: a lost question is asked again.
        const writes = /append_1|insert into|update /.test(written.toString("latin1"));
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
      ] as const)
        one.on("close", () => other.destroy()).on("error", () => undefined);
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return Object(this.#server.address()).port as number;
  }

  cutNextReply(): void {
    this.#cutNext = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
