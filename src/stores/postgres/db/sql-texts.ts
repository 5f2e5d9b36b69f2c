/** A statement that may also be a function of the schema: then it is planned once for a connection. */
export interface Call {
  readonly name: string;
  readonly types: readonly string[];
  readonly text: string;
  /** Its answer is one value, which spares the function a table of its own. */
  readonly scalar?: boolean;
  /** Columns that are added to its answer. */
  readonly added?: string;
}

/** The texts of statements for the tables of one schema, each made once. */
export class SqlTexts {
  readonly schema: string;
  /** Whether the functions of the schema are called; else the same statements are sent. */
  readonly functions: boolean;
  readonly #texts = new Map<string, string>();
  readonly #calls = new Map<string, string>();

  constructor(schema: string, functions: boolean) {
    this.schema = schema;
    this.functions = functions;
  }

  /** A statement's text with the name of the schema in it. */
  text(statement: string): string {
    const cached = this.#texts.get(statement);
    if (cached !== undefined) return cached;
    const text = statement.replaceAll("@.", `${this.schema}.`);
    this.#texts.set(statement, text);
    return text;
  }

  call({ name, types, text, scalar = false, added }: Call): string {
    const cached = this.#calls.get(name);
    if (cached !== undefined) return cached;
    const marks = types.map((_, at) => `$${at + 1}`).join(", ");
    const own = this.functions ? `select ${scalar ? "" : "* from "}@.${name}(${marks})` : typed(text, types);
    const made = this.text(added === undefined ? own : `select a.*, ${added} from (${own}) a (part)`);
    this.#calls.set(name, made);
    return made;
  }
}

/** Parameters with their types, which a function has in its signature. */
export function typed(text: string, types: readonly string[]): string {
  return text.replaceAll(/\$(\d+)(?!::)\b/g, (mark, number: string) => {
    const type = types[Number(number) - 1];
    return type === undefined ? mark : `(${mark}::${type})`;
  });
}

/**
 * How a commit waits for the disk, as a question whose answer is the setting of its own transaction. Relaxed: not at all. Else
 * as the server is told, and for the disk at least: what was answered must not be lost with the power.
 */
export function syncCommit(relaxed: string): string {
  return `select set_config('synchronous_commit', case when ${relaxed} then 'off'
  when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`;
}

/** A statement that begins so has to name `sync` in what it writes, or it is never asked. */
export function withSync(relaxed: string): string {
  return `with sync as materialized (${syncCommit(relaxed)})`;
}
