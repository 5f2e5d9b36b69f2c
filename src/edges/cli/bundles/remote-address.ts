import { LogError } from "#log/errors";

/** Conversations of a server that is asked over HTTP. */
export interface RemoteBundle {
  readonly origin: string;
  readonly conversations: readonly string[];
}

/** The options that say how a server is asked. */
export const REMOTE_OPTIONS = {
  "token-file": { type: "string" },
  "server-name": { type: "string" },
} as const;

export const REMOTE_ABOUT = `  --token-file FILE  a file that holds the token and nothing else, readable by you alone. The variable
                     HOLDFAST_TOKEN has it unless given; a command line would show it to others
  --server-name NAME what the server is called, with its port, where a tunnel leads to it under
                     another name, such as 127.0.0.1:8080`;

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * A server, by its address alone or by that of a conversation there: `URL/api/bundle?conversation=ID`, `URL/api/conversations/ID`,
 * or the page `URL/c/ID`.
 */
export function remoteBundle(text: string, ids: readonly string[]): RemoteBundle {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new LogError(
      "invalid_request",
      `${text} is no address of a server: it begins with https:// or http://`,
    );
  if (url.username !== "" || url.password !== "")
    throw new LogError(
      "invalid_request",
      "A token does not stand in an address: use --token-file or HOLDFAST_TOKEN",
    );
  // A token that goes over the network as it is can be read on the way.
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname))
    throw new LogError(
      "invalid_request",
      `${url.origin} is asked without TLS, so that whoever is on the way could read the token; nothing was sent. Use https://, or a tunnel to this machine`,
    );
  const [, page] = /^\/(?:c|api\/conversations)\/([^/]+)$/.exec(url.pathname) ?? [];
  const isBundle = url.pathname === "/api/bundle";
  if (url.pathname !== "/" && page === undefined && !isBundle)
    throw new LogError(
      "invalid_request",
      `${url.origin}${url.pathname} is no conversation and no bundle of a server`,
    );
  const named = page === undefined ? url.searchParams.getAll("conversation") : [decodeURIComponent(page)];
  const conversations = [...ids, ...named];
  if (conversations.length === 0)
    throw new LogError(
      "invalid_request",
      `Say which conversation of ${url.origin} is meant: ${url.origin}/c/ID`,
    );
  return { origin: url.origin, conversations };
}
