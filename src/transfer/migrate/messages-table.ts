import { LogError } from "#log/errors";
import { located, type ShapeName } from "./foreign-messages.ts";
import { ownMarks } from "./ready-pieces.ts";
import type { MessageMarks, MigrationSource, SourceListed, SourcePiece } from "./migration-source.ts";
import { quoteName, type SourceDatabase, type SourceTable } from "./source-database.ts";
import {
  columnsOf,
  type GivenColumns,
  type TableColumns,
  unknownColumns,
  type Cell,
  isYes,
  messageOfRow,
  timeOf,
} from "./table-row.ts";

/** What `MigrationSourceOptions` say of a table. */
interface MessagesTableOptions {
  readonly table?: string;
  readonly columns?: GivenColumns;
  readonly shape?: ShapeName;
}

/** A table with a row for each message. */
export async function messagesTable(
  database: SourceDatabase,
  options: MessagesTableOptions = {},
): Promise<MigrationSource> {
  const { table, columns } = chooseTable(await database.tables(), options);
  const reader = new TableReader(database, table, columns);
  const { conversation, order, role, content, created, space, message, internal, parent, mailbox } = columns;
  const others = Object.entries({ space, message, internal, parent, mailbox });
  return {
    id: `table/${table.shown}`,
    name: `${table.shown} of ${database.place}`,
    mapping: [
      `conversation: ${conversation}`,
      `order: ${order.join(", ")}`,
      `role: ${role ?? "in the content"}`,
      `content: ${content}`,
      `time: ${created ?? "none"}`,
      ...others.flatMap(([name, column]) => (column === null ? [] : [`${name}: ${column}`])),
    ],
    conversations: () => reader.list(),
    read: (source, tenant) => reader.read({ source, space: tenant, shape: options.shape ?? null }),
    close: () => database.close(),
  };
}

function chooseTable(
  tables: readonly SourceTable[],
  { table: name, columns: given = {} }: MessagesTableOptions,
): { readonly table: SourceTable; readonly columns: TableColumns } {
  const named = tables.filter(
    ({ shown, name: full }) => name === undefined || shown === name || full === name,
  );
  const fitting = named.flatMap((table) => {
    const names = table.columns.map((column) => column.name);
    const columns = unknownColumns(names, given).length > 0 ? null : columnsOf(names, given);
    return columns === null ? [] : [{ table, columns }];
  });
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const shown = (list: readonly SourceTable[]): string => list.map((table) => table.shown).join(", ");
  if (name !== undefined && named.length === 0)
    throw wrong(`There is no table ${name} there; there are ${shown(tables) || "none"}`);
  if (name !== undefined)
    throw wrong(
      `The columns of ${name} cannot be told: it has ${named[0]?.columns.map((column) => column.name).join(", ")}. Say which they are with --columns conversation=…,ordinal=…,role=…,content=…,created=…`,
    );
  throw wrong(
    fitting.length === 0
      ? `No table there looks like one of messages; say which with --table, of ${shown(tables) || "none"}`
      : `Several tables look like one of messages; say which with --table: ${shown(fitting.map(({ table }) => table))}`,
  );
}

function wrong(message: string): LogError {
  return new LogError("invalid_request", `${message}. Nothing was written`);
}

/** A conversation of the table, and the shape that was asked for. */
interface Asked {
  readonly source: string;
  readonly space: string | undefined;
  readonly shape: ShapeName | null;
}

function marksOf(id: string | null, internal: string | null): MessageMarks {
  return { ...(id === null || id === "" ? {} : { id }), ...(isYes(internal) ? { internal: true } : {}) };
}

class TableReader {
  readonly #database: SourceDatabase;
  readonly #table: SourceTable;
  readonly #columns: TableColumns;

  constructor(database: SourceDatabase, table: SourceTable, columns: TableColumns) {
    this.#database = database;
    this.#table = table;
    this.#columns = columns;
  }

  async list(): Promise<readonly SourceListed[]> {
    const { conversation, order, space, parent, mailbox } = this.#columns;
    const groups = [conversation, space].filter((column) => column !== null);
    const any = (column: string | null): string =>
      column === null ? "null" : `max(nullif(${asText(column)}, ''))`;
    const rows = await this.#database.query(
      `select ${asText(conversation)}, cast(count(*) as text), max(${asText(order[0] ?? conversation)}),
         ${space === null ? "null" : asText(space)}, ${any(parent)}, ${any(mailbox)}
       from ${this.#table.name} group by ${groups.map(quoteName).join(", ")} order by 1, 4`,
    );
    return rows.map(([source, count, newest, tenant, caused, box]) => {
      const without = !source ? conversation : space !== null && !tenant ? space : null;
      if (!source || without !== null)
        throw new LogError(
          "invalid_request",
          `${this.#table.shown}: rows without a ${without}: ${count}; nothing was written`,
          { table: this.#table.shown },
        );
      const listed: SourceListed = { source, version: `${count}/${newest}` };
      return Object.assign(
        listed,
        tenant ? { space: tenant } : {},
        caused && caused !== source ? { parent: caused } : {},
        box ? { mailbox: box } : {},
      );
    });
  }

  async read({ source, space, shape }: Asked): Promise<readonly SourcePiece[]> {
    const { conversation, order, role, content, created, members, message, internal } = this.#columns;
    const wanted = [...order, role, content, created, message, internal, ...members].filter(
      (one) => one !== null,
    );
    const within = [[conversation, source] as const, [this.#columns.space, space] as const].flatMap(
      ([column, value]) => (column === null || value === undefined ? [] : [{ column, value }]),
    );
    const wheres = within.map(
      ({ column }, at) => `t.${quoteName(column)} = ${this.#database.mark(at + 1, this.#typeOf(column))}`,
    );
    const rows = await this.#database.query(
      // Named by their table: a name alone would be the text, by which ten comes before two.
      `select ${wanted.map(asText).join(", ")} from ${this.#table.name} as t
       where ${wheres.join(" and ")} order by ${order.map((column) => `t.${quoteName(column)}`).join(", ")}`,
      within.map(({ value }) => value),
    );
    const seen = new Set<string>();
    return rows.map((row) => {
      const cells = new Map(wanted.map((column, at) => [column, this.#cell(column, row[at] ?? null)]));
      return this.#piece({ source, shape, seen }, cells);
    });
  }

  #piece(
    {
      source,
      shape,
      seen,
    }: { readonly source: string; readonly shape: ShapeName | null; readonly seen: Set<string> },
    cells: ReadonlyMap<string, Cell>,
  ): SourcePiece {
    const { order, role, content, created, members, message: named, internal } = this.#columns;
    const text = (column: string | null): string | null =>
      column === null ? null : (cells.get(column)?.text ?? null);
    const at = order.map((column) => text(column) ?? "").join("/");
    const place = `${this.#table.shown}, ${this.#columns.conversation} ${source}, ${order.join("/")} ${at}`;
    const none: Cell = { text: null, json: false };
    return located(place, () => {
      if (order.some((column) => text(column) === null))
        throw new LogError("invalid_entry", "has no place in the order");
      if (seen.has(at)) throw new LogError("invalid_entry", "stands at a place that another row has, too");
      seen.add(at);
      const message = messageOfRow({
        role: text(role),
        content: cells.get(content) ?? none,
        members: Object.fromEntries(members.map((member) => [member, cells.get(member) ?? none])),
      });
      return {
        key: `${this.#table.shown}/${at}`,
        place,
        time: timeOf(text(created)),
        shape,
        messages: [message],
        marks: [{ ...ownMarks(message), ...marksOf(text(named), text(internal)) }],
      };
    });
  }

  #cell(column: string, text: string | null): Cell {
    return { text, json: this.#table.columns.find(({ name }) => name === column)?.isJson === true };
  }

  #typeOf(column: string): string {
    return this.#table.columns.find(({ name }) => name === column)?.type ?? "text";
  }
}

function asText(column: string): string {
  return `cast(${quoteName(column)} as text)`;
}
