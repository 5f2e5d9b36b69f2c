import { request as askPlain, type IncomingMessage } from "node:http";
import { request as askSecure } from "node:https";
import { Readable } from "node:stream";

const SILENT_MS = 60_000;

/**
 * Asks a server by the name that it knows itself by, where a tunnel leads to it under another: fetch would put the tunnel's there.
 * Redirects are not followed: the token is for one server.
 */
export function namedFetch(name: string | null): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const ask = url.protocol === "https:" ? askSecure : askPlain;
    const answered = Promise.withResolvers<IncomingMessage>();
    const named = name === null ? {} : { servername: name.replace(/:\d+$/, "") };
    const headers = { ...Object.fromEntries(request.headers), ...(name === null ? {} : { host: name }) };
    const sent = ask(url, {
      method: request.method,
      headers,
      signal: request.signal,
      agent: false,
      ...named,
    });
    sent.once("response", answered.resolve);
    sent.once("error", answered.reject);
    sent.setTimeout(SILENT_MS, () => sent.destroy(new Error("it says nothing")));
    sent.end();
    const incoming = await answered.promise.catch((cause: unknown) => {
      throw new TypeError("not reached", { cause });
    });
    const given = new Headers();
    for (const [key, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) given.append(key, value);
    const status = incoming.statusCode ?? 500;
    const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    return new Response(status === 204 || status === 304 ? null : body, { status, headers: given });
  };
}
