import type { SQLOutputValue } from "node:sqlite";
import { LogError } from "#log/errors";
import { openConnections } from "#stores/postgres/connections";
import { parsePostgresAddress } from "#stores/postgres/postgres-address";
import { toLogError } from "#stores/postgres/postgres-errors";

interface SourceColumn {
  readonly name: string;
  /** As the database names it. */
  readonly type: string;
  readonly isJson: boolean;
}

/** A database that is only read. Every value comes as text, or is null. */
export interface SourceDatabase {
  /** For people: without a password. */
  readonly place: string;
  /** Tables with their columns; `name` as it is written in a statement. */
  tables(): Promise<readonly SourceTable[]>;
  /** Rows of one moment. */
  query(text: string, values?: readonly string[]): Promise<readonly (readonly (string | null)[])[]>;
  /** The n-th value, as one of this type. */
  mark(n: number, type: string): string;
  close(): Promise<void>;
}

export interface SourceTable {
  readonly name: string;
  /** As people name it: with its schema where that is not the usual one. */
  readonly label: string;
  readonly columns: readonly SourceColumn[];
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const CONNECT_MS = 10_000;
const QUERY_MS = 120_000; // tables of others may have no index for what is asked

export async function openPostgresSource(url: string): Promise<SourceDatabase> {
  const address = parsePostgresAddress(url);
  const place = address.place.replace(/ \(schema .*\)$/, "");
  const { url: cleanUrl, queryMs } = address;
  const settings = { url: cleanUrl, connections: 2, connectMs: CONNECT_MS, queryMs: queryMs ?? QUERY_MS };
  const connections = await openConnections(undefined, settings);
  const query: SourceDatabase["query"] = async (text, values = []) => {
    try {
      return await connections.use(async (session) => {
        await session.query("begin isolation level repeatable read read only", []);
        await session.query("set local timezone = 'UTC'", []);
        const rows = await session.query(text, values);
        await session.query("commit", []);
        return rows as unknown as readonly (readonly (string | null)[])[];
      });
    } catch (error) {
      throw toLogError(error, place);
    }
  };
  return {
    place,
    query,
    mark: (n, type) => `$${n}::${type}`,
    async tables() {
      const rows = await query(
        `select quote_ident(n.nspname) || '.' || quote_ident(c.relname),
                case when n.nspname = 'public' then c.relname else n.nspname || '.' || c.relname end,
                a.attname::text, format_type(a.atttypid, null)
         from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
         where c.relkind in ('r', 'p', 'v', 'm', 'f') and a.attnum > 0 and not a.attisdropped and not c.relispartition
           and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
         order by 1, a.attnum`,
      );
      return tablesOf(rows);
    },
    close: () => connections.close(),
  };
}

export async function openSqliteSource(path: string): Promise<SourceDatabase> {
  const { DatabaseSync } = await import("node:sqlite");
  const explain = (cause: unknown): LogError =>
    new LogError(
      "invalid_request",
      `${path} is not readable as a SQLite database: ${(cause as Error).message}`,
      {
        file: path,
      },
      { cause },
    );
  const opened = (): InstanceType<typeof DatabaseSync> => {
    try {
      return new DatabaseSync(path, { readOnly: true });
    } catch (cause) {
      throw explain(cause);
    }
  };
  const database = opened();
  const query: SourceDatabase["query"] = async (text, values = []) => {
    try {
      const statement = database.prepare(text);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      return (statement.all(...values) as unknown as readonly (readonly SQLOutputValue[])[]).map((row) =>
        row.map(cellText),
      );
    } catch (cause) {
      throw explain(cause);
    }
  };
  return {
    place: path,
    query,
    mark: () => "?",
    async tables() {
      const rows = await query(
        `select '"' || replace(m.name, '"', '""') || '"', m.name, c.name, lower(c.type)
         from sqlite_schema m join pragma_table_info(m.name) c
         where m.type in ('table', 'view') and m.name not like 'sqlite\\_%' escape '\\' order by m.name, c.cid`,
      );
      return tablesOf(rows);
    },
    close: async () => database.close(),
  };
}

function cellText(value: SQLOutputValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : String(value);
}

function tablesOf(rows: readonly (readonly (string | null)[])[]): readonly SourceTable[] {
  const tables = new Map<string, { readonly label: string; readonly columns: SourceColumn[] }>();
  for (const [name, label, column, type] of rows as readonly (readonly string[])[]) {
    const table = tables.get(name ?? "") ?? { label: label ?? "", columns: [] };
    tables.set(name ?? "", table);
    table.columns.push({ name: column ?? "", type: type ?? "", isJson: /^jsonb?$/.test(type ?? "") });
  }
  return [...tables].map(([name, { label, columns }]) => ({ name, label, columns }));
}
