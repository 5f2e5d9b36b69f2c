import type { Api, StreamName } from "#edges/http/routes/api";
import { follow } from "./follow.ts";
import { CLIENT_ROUTES } from "./routes.ts";
import { type CallOptions, type ClientOptions, type ClientRoute, Transport } from "./transport.ts";
import { readJson } from "#log/json/read-json";

/** All that an operation takes, in one object. */
export type InputOf<O> = O extends { readonly input: infer I } ? I : unknown;

type Arguments<I> = object extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

/**
 * Every operation as a method: what the path, the query and the body hold is one object. Those that stream give what comes, and
 * connect again by themselves.
 */
export type Client = ClientOf<Api>;

export type ClientOf<A extends { readonly [K in keyof A]: { readonly response: unknown } }> = {
  readonly [K in keyof A]: (
    ...given: Arguments<InputOf<A[K]>>
  ) => K extends StreamName ? AsyncGenerator<A[K]["response"]> : Promise<A[K]["response"]>;
};

/** A client of a server, made from its table of routes. It runs in browsers and in Node. */
export function createClient(options: ClientOptions = {}): Client {
  return clientOf<Api>(CLIENT_ROUTES, options);
}

/** The same for other operations. */
export function clientOf<A extends { readonly [K in keyof A]: { readonly response: unknown } }>(
  routes: { readonly [K in keyof A]: ClientRoute },
  options: ClientOptions,
): ClientOf<A> {
  const transport = new Transport(options);
  const methods = Object.entries<ClientRoute>(routes).map(([name, route]) => [
    name,
    method(transport, route),
  ]);
  return Object.fromEntries(methods) as ClientOf<A>;
}

type Method = (input?: object, options?: CallOptions) => unknown;

function method(transport: Transport, route: ClientRoute): Method {
  const given = (input: object): { readonly [name: string]: unknown } => ({ ...input });
  if (route.answers === "events")
    return (input = {}, options = {}) => follow(transport, route, given(input), options);
  return (input = {}, { onText, ...options } = {}) => {
    const read = async (response: Response): Promise<unknown> => {
      if (route.answers === "bytes") return new Uint8Array(await response.arrayBuffer());
      const text = await response.text();
      onText?.(text);
      return readJson(text);
    };
    return transport.ask(route, given(input), { ...options, read });
  };
}
