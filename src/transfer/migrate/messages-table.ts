import { LogError } from "#log/errors";
import { located, type ShapeName } from "./foreign-messages.ts";
import { ownMarks } from "./ready-pieces.ts";
import type { MessageMarks, MigrationSource, SourceConversation, SourcePiece } from "./migration-source.ts";
import { quoteName, type SourceDatabase, type SourceTable } from "./source-database.ts";
import {
  columnsOf,
  type ColumnNames,
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
  readonly columns?: ColumnNames;
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
    id: `table/${table.label}`,
    name: `${table.label} of ${database.place}`,
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
  { table: name, columns: input = {} }: MessagesTableOptions,
): { readonly table: SourceTable; readonly columns: TableColumns } {
  const candidates = tables.filter(
    ({ label, name: full }) => name === undefined || label === name || full === name,
  );
  const fitting = candidates.flatMap((table) => {
    const names = table.columns.map((column) => column.name);
    const columns = unknownColumns(names, input).length > 0 ? null : columnsOf(names, input);
    return columns === null ? [] : [{ table, columns }];
  });
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const label = (list: readonly SourceTable[]): string => list.map((table) => table.label).join(", ");
  if (name !== undefined && candidates.length === 0)
    throw wrong(`Table ${name} not found. Tables: ${label(tables) || "(empty)"}.`);
  if (name !== undefined)
    throw wrong(
      `Table ${name} has columns with unknown names: ${candidates[0]?.columns.map((column) => column.name).join(", ")}. Set all five with --columns conversation=…,ordinal=…,role=…,content=…,created=…`,
    );
  throw wrong(
    fitting.length === 0
      ? `No table of messages found. Choose one with --table: ${label(tables) || "(empty)"}`
      : `Several tables look like tables of messages. Choose one with --table: ${label(fitting.map(({ table }) => table))}`,
  );
}

function wrong(message: string): LogError {
  return new LogError("invalid_request", message);
}

/** A conversation of the table, and the shape that was asked for. */
interface TableRead {
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

  async list(): Promise<readonly SourceConversation[]> {
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
        throw new LogError("invalid_request", `${this.#table.label}: ${count} rows have no ${without}`, {
          table: this.#table.label,
        });
      const row: SourceConversation = { source, version: `${count}/${newest}` };
      return Object.assign(
        row,
        tenant ? { space: tenant } : {},
        caused && caused !== source ? { parent: caused } : {},
        box ? { mailbox: box } : {},
      );
    });
  }

  async read({ source, space, shape }: TableRead): Promise<readonly SourcePiece[]> {
    const { conversation, order, role, content, created, members, message, internal } = this.#columns;
    const selected = [...order, role, content, created, message, internal, ...members].filter(
      (one) => one !== null,
    );
    const within = [[conversation, source] as const, [this.#columns.space, space] as const].flatMap(
      ([column, value]) => (column === null || value === undefined ? [] : [{ column, value }]),
    );
    const wheres = within.map(
      ({ column }, index) =>
        `t.${quoteName(column)} = ${this.#database.mark(index + 1, this.#typeOf(column))}`,
    );
    const rows = await this.#database.query(
      // Named by their table: a name alone would be the text, by which ten comes before two.
      `select ${selected.map(asText).join(", ")} from ${this.#table.name} as t
       where ${wheres.join(" and ")} order by ${order.map((column) => `t.${quoteName(column)}`).join(", ")}`,
      within.map(({ value }) => value),
    );
    const places = new Set<string>();
    return rows.map((row) => {
      const cells = new Map(
        selected.map((column, index) => [column, this.#cell(column, row[index] ?? null)]),
      );
      return this.#piece({ source, shape, places }, cells);
    });
  }

  #piece(
    {
      source,
      shape,
      places,
    }: { readonly source: string; readonly shape: ShapeName | null; readonly places: Set<string> },
    cells: ReadonlyMap<string, Cell>,
  ): SourcePiece {
    const { order, role, content, created, members, message: idColumn, internal } = this.#columns;
    const text = (column: string | null): string | null =>
      column === null ? null : (cells.get(column)?.text ?? null);
    const position = order.map((column) => text(column) ?? "").join("/");
    const place = `${this.#table.label}, ${this.#columns.conversation} ${source}, ${order.join("/")} ${position}`;
    const none: Cell = { text: null, json: false };
    return located(place, () => {
      if (order.some((column) => text(column) === null))
        throw new LogError("invalid_entry", "has no position");
      if (places.has(position)) throw new LogError("invalid_entry", "has the same position as another row");
      places.add(position);
      const message = messageOfRow({
        role: text(role),
        content: cells.get(content) ?? none,
        members: Object.fromEntries(members.map((member) => [member, cells.get(member) ?? none])),
      });
      return {
        key: `${this.#table.label}/${position}`,
        place,
        time: timeOf(text(created)),
        shape,
        messages: [message],
        marks: [{ ...ownMarks(message), ...marksOf(text(idColumn), text(internal)) }],
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
