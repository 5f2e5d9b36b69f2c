import type { Grant } from "#edges/http/access/grant";
import type { LaunchCodes } from "#edges/http/access/launch-codes";
import type { StoredTokens } from "#edges/http/access/stored-tokens";
import type { HttpRequest } from "#edges/http/exchange";
import { Refusal } from "./failures.ts";

/** Where tokens are looked up. */
export interface TokenSources {
  readonly stored: Pick<StoredTokens, "find" | "known">;
  readonly codes: Pick<LaunchCodes, "find">;
  readonly own: (secret: string) => Promise<Grant | null>;
  readonly cookieName: string;
  /** Called before anything is looked up for whoever shows nothing that is known; throws where that is too often. */
  limit(): void;
}

export interface Identified {
  readonly grant: Grant;
  /** By a cookie, which a browser sends whoever made it ask. */
  readonly byCookie: boolean;
  /** Whether the token still opens anything: it may be removed, or expire, while a stream is open. */
  readonly isValid: () => Promise<boolean>;
}

const SECRET_CHARS_MAX = 256;

/** Whose token a request shows. */
export async function identify(request: HttpRequest, sources: TokenSources): Promise<Identified> {
  const header = request.headers.get("authorization");
  if (header !== null) {
    const [, secret = ""] = /^Bearer ([\w.~+/-]{1,256}=*)$/i.exec(header) ?? [];
    const find = async (): Promise<Grant | null> =>
      secret === "" ? null : ((await sources.own(secret)) ?? (await sources.stored.known(secret)));
    const isValid = async (): Promise<boolean> => (await find()) !== null;
    const known = await find();
    if (known !== null) return { grant: known, byCookie: false, isValid };
    sources.limit();
    const grant = secret === "" ? null : await sources.stored.find(secret);
    if (grant === null) throw unknown("wrong_token", "Unknown token");
    return { grant, byCookie: false, isValid };
  }
  const session = cookieOf(request, sources.cookieName);
  const find = (): Grant | null =>
    session === null || session.length > SECRET_CHARS_MAX ? null : sources.codes.find(session);
  const grant = find();
  if (grant === null) {
    sources.limit();
    throw session === null
      ? unknown("no_token", "Every request requires a token")
      : unknown("wrong_token", "The session of this page has expired, or its server has stopped");
  }
  return { grant, byCookie: true, isValid: async () => find() !== null };
}

function unknown(code: "no_token" | "wrong_token", message: string): Refusal {
  return new Refusal(code, message, { headers: { "www-authenticate": 'Bearer realm="holdfast"' } });
}

function cookieOf(request: HttpRequest, name: string): string | null {
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, ...value] = part.trim().split("=");
    if (key === name) return value.join("=");
  }
  return null;
}
