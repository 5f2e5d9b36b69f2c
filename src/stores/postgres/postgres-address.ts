import { LogError } from "#log/errors";

const SCHEMA_SHAPE = /^[a-z_][a-z0-9_]{0,39}$/;
const DEFAULT_SCHEMA = "holdfast";
const PARTITIONS_MAX = 256;

export interface PostgresAddress {
  /** The address for the driver, without our own options. */
  readonly url: string;
  readonly schema: string;
  readonly partitions: number;
  readonly functions: boolean;
  readonly rowSecurity: boolean;
  readonly listen: boolean;
  /** How long a statement is waited for; null: the address does not say. */
  readonly queryMs: number | null;
  /** For people: without user's password and without settings. */
  readonly place: string;
}

/** Reads `postgres://USER:PASSWORD@HOST:PORT/DB?schema=…`. The password is part of no message. */
export function parsePostgresAddress(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new LogError(
      "invalid_request",
      "Invalid PostgreSQL URL. Use postgres://USER:PASSWORD@HOST:5432/DATABASE?schema=holdfast, and write @ : / in the password as %40 %3A %2F.",
    );
  const schema = settingIn(url, "schema") ?? DEFAULT_SCHEMA;
  const partitions = Number(settingIn(url, "partitions") ?? 0);
  const functions = settingIn(url, "functions") !== "off";
  const rowSecurity = switchIn(url, "row_security");
  const listen = switchIn(url, "listen");
  const queryMs = millisecondsIn(url, "query_ms");
  return {
    url: url.href,
    schema: checkSchema(schema),
    partitions: checkPartitions(partitions),
    functions,
    rowSecurity,
    listen,
    queryMs,
    place: placeOf(url, schema),
  };
}

function settingIn(url: URL, name: string): string | null {
  const value = url.searchParams.get(name);
  url.searchParams.delete(name);
  return value;
}

function millisecondsIn(url: URL, name: string): number | null {
  const value = settingIn(url, name);
  if (value === null || /^[1-9]\d{0,8}$/.test(value)) return value === null ? null : Number(value);
  throw new LogError(
    "invalid_request",
    `Invalid PostgreSQL URL: ${name} must be a number of milliseconds, such as 10000`,
  );
}

function switchIn(url: URL, name: string): boolean {
  const value = settingIn(url, name) ?? "off";
  if (value === "on" || value === "off") return value === "on";
  throw new LogError("invalid_request", `Invalid PostgreSQL URL: ${name} must be on or off`);
}

export function checkSchema(schema: string): string {
  if (SCHEMA_SHAPE.test(schema)) return schema;
  throw new LogError(
    "invalid_request",
    "schema must be 1 to 40 lowercase letters, digits and underscores, and must not start with a digit",
  );
}

export function checkPartitions(partitions: number): number {
  if (Number.isSafeInteger(partitions) && partitions >= 0 && partitions <= PARTITIONS_MAX) return partitions;
  throw new LogError(
    "invalid_request",
    `The tables of a store in PostgreSQL are made with 0 to ${PARTITIONS_MAX} partitions`,
  );
}

function placeOf(url: URL, schema: string): string {
  return `postgres://${url.host}${url.pathname} (schema ${schema})`;
}
