import { ReadConnection } from "#stores/sqlite/read/read-connection";
import type { Reader } from "#stores/sqlite/read/reader";

/** How many rows a read takes from a SQLite store's file, and what it answers; a question for one row counts as one. */
export async function rowsRead<T>(
  path: string,
  work: (reader: Reader) => T,
): Promise<{ readonly rows: number; readonly answer: T }> {
  const connection = new ReadConnection(path, false);
  try {
    return await connection.read((reader) => {
      let rows = 0;
      const { sql } = reader;
      const [all, get] = [sql.all.bind(sql), sql.get.bind(sql)];
      Object.assign(sql, {
        all: (...asked: Parameters<typeof all>) => {
          const found = all(...asked);
          rows += Math.max(found.length, 1);
          return found;
        },
        get: (...asked: Parameters<typeof get>) => {
          rows++;
          return get(...asked);
        },
      });
      work(reader); // what is remembered from then on is not read again
      rows = 0;
      const answer = work(reader);
      return { rows, answer };
    });
  } finally {
    connection.close();
  }
}
