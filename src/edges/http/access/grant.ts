import { hash, randomBytes } from "node:crypto";
import { LogError } from "#log/errors";
import { parseSpaceId } from "#log/ids";
import { type Right, RIGHTS } from "#edges/http/routes/route";

/** Where a server keeps what is its own, in the store that it serves; no token is of this space. */
export const SERVER_SPACE = "holdfast.server";
/** What the audit log calls the token of one run of `holdfast serve`. */
export const THIS_RUN = "this-run";
/** What it calls commands and programs that open the store themselves. */
export const LOCAL = "local";
/** What it calls browsers that were opened by `holdfast link`. */
export const LINK_TOKEN = "link";

/** What whoever shows a token may do: in one space, up to one right. */
export interface Grant {
  /** The name of the token, by which the audit log calls it. */
  readonly token: string;
  readonly space: string;
  readonly rights: Right;
}

const INCLUDED: { readonly [R in Right]: readonly Right[] } = {
  read: ["read"],
  write: ["read", "write"],
  admin: ["read", "write", "admin", "metrics"],
  metrics: ["metrics"],
};

export function mayDo(grant: Pick<Grant, "rights">, right: Right): boolean {
  return INCLUDED[grant.rights].includes(right);
}

/** Throws where a command asks for what it may not give away. */
export function checkAccess({ space, rights }: Grant): void {
  if (parseSpaceId(space) === SERVER_SPACE)
    throw new LogError(
      "invalid_request",
      `Space ${SERVER_SPACE} is reserved for the server. Choose another.`,
    );
  if (!RIGHTS.includes(rights))
    throw new LogError("invalid_request", `Unknown permission "${rights}". Use ${RIGHTS.join(", ")}.`);
}

const SECRET_BYTES = 32;

/** 256 random bits; `kind` makes one that is found somewhere recognisable. */
export function newSecret(kind: "hf" | "hfc"): string {
  return `${kind}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** All that is kept of a secret. It is looked up by this, so how long that takes says nothing about the secret. */
export function hashOf(secret: string): string {
  return hash("sha256", secret);
}

/** Knows one secret by its hash: for a token that is kept nowhere. */
export function grantOf(secret: string, grant: Grant): (given: string) => Promise<Grant | null> {
  const known = hashOf(secret);
  return async (given) => (hashOf(given) === known ? grant : null);
}
