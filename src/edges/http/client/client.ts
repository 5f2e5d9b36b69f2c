import { type Api, OPERATIONS, type OperationName } from "#edges/http/routes/api";
import type { Operation } from "#edges/http/routes/route";
import { type CallOptions, type ClientOptions, Transport } from "./transport.ts";

type Given<O, P extends "params" | "query" | "body"> = O extends { readonly [K in P]: infer T } ? T : unknown;

/** All that an operation is given, in one object. */
export type InputOf<O extends Operation> = Given<O, "params"> & Given<O, "query"> & Given<O, "body">;

type Arguments<I> = object extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

/** Every operation as a method: what the path, the query and the body hold is one object. */
export type Client = {
  readonly [K in OperationName]: (...given: Arguments<InputOf<Api[K]>>) => Promise<Api[K]["response"]>;
};

/** A client of a server, made from its table of routes. It runs in browsers and in Node. */
export function createClient(options: ClientOptions = {}): Client {
  const transport = new Transport(options);
  const call =
    (route: (typeof OPERATIONS)[number][1]) =>
    async (input: object = {}, more: CallOptions = {}) => {
      const response = await transport.send(route, input as { readonly [name: string]: unknown }, more);
      return route.answers === "bytes" ? new Uint8Array(await response.arrayBuffer()) : response.json();
    };
  return Object.fromEntries(OPERATIONS.map(([name, route]) => [name, call(route)])) as unknown as Client;
}
