import { createHash } from "node:crypto";

/** The address of a log for a path of its own; the same for every process. */
export type LogPlace = (path: string) => string;

export const inSqlite: LogPlace = (path) => `sqlite:${path}`;

/** In a database, each log in tables of its own. */
export function inPostgres(url: string): LogPlace {
  return (path) => {
    const name = createHash("sha256").update(path).digest("hex").slice(0, 12);
    return `${url}?schema=log_${name}`;
  };
}
