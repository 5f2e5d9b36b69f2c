import type { HttpRequest } from "#edges/http/exchange";
import { CLIENT_HEADER } from "#edges/http/routes/route";
import { Refusal } from "./failures.ts";

/** How this server may be called, and by pages of which origins. */
export interface KnownNames {
  /** As the header Host has them, with the port where it is not the usual one. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** The names of a server on this machine, and those that it was told of. */
export function knownNames(given: {
  readonly port: number;
  /** More hosts that may be asked for, each with its port where it has one. */
  readonly hosts?: readonly string[];
  /** How others reach it, behind a proxy: `https://agents.example`. */
  readonly publicUrl?: string;
}): KnownNames {
  const { port, hosts: more = [], publicUrl } = given;
  const bare = port === 80 ? LOOPBACK : [];
  const hosts = [...LOOPBACK.map((name) => `${name}:${port}`), ...bare, ...more].map((name) =>
    name.toLowerCase(),
  );
  const origins = hosts.map((host) => `http://${host}`);
  if (publicUrl !== undefined) {
    const { host, origin } = new URL(publicUrl);
    hosts.push(host);
    origins.push(origin);
  }
  return { hosts: new Set(hosts), origins: new Set(origins) };
}

/**
 * Refuses what a page of somebody else has a browser send: before any route is looked for, and whatever token comes with it. A
 * name that leads here but is not ours (DNS rebinding) is no name of this server.
 */
export function checkSender(request: HttpRequest, names: KnownNames): void {
  const host = (request.headers.get("host") ?? request.url.host).toLowerCase();
  if (!names.hosts.has(host)) throw new Refusal("wrong_host", "Unknown or missing Host header");
  const origin = request.headers.get("origin");
  if (origin !== null && !names.origins.has(origin.toLowerCase()))
    throw new Refusal("wrong_origin", "Requests from pages of another origin are rejected");
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none")
    throw new Refusal("wrong_origin", "Requests from pages of another site are rejected");
}

/** A cookie goes along with whatever a browser is made to send: a write must show that a page of ours sent it. */
export function checkPage(request: HttpRequest): void {
  const { headers } = request;
  const isOurs = headers.get("origin") !== null || headers.get("sec-fetch-site") === "same-origin";
  if (!isOurs || headers.get(CLIENT_HEADER) === null)
    throw new Refusal(
      "wrong_origin",
      `Writes with a cookie require Origin or Sec-Fetch-Site, and the header ${CLIENT_HEADER}`,
    );
}
