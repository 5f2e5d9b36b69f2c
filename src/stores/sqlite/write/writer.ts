import type { Command, GroupCommand, Outcome, WriterOptions } from "#stores/sqlite/thread/messages";
import { erasedInLog, toWire } from "#stores/sqlite/sqlite-errors";
import { Lookup } from "#stores/sqlite/tables/lookup";
import { REBUILD_SEARCH } from "#stores/sqlite/tables/schema";
import { Connection } from "./write-connection.ts";
import { eraseTx } from "./erase-log.ts";
import { runGroup } from "./commit-group.ts";
import { indexTx } from "./search-index.ts";

const GROUP_MAX = 512; // commands that wait for one sync
const SOLO: ReadonlySet<Command["kind"]> = new Set(["erase", "index", "reindex", "barrier", "close"]);

/** Carries out commands on the file, one after the other; knows nothing of threads. */
export class Writer {
  readonly connection: Connection;
  readonly #lookup: Lookup;
  #emptyLogOwed: boolean = false;

  constructor(options: WriterOptions) {
    this.connection = new Connection(options, () => this.#lookup.forgetHeads());
    this.#lookup = new Lookup(this.connection.sql);
  }

  /** How many commands from the front may share a transaction; 0 when the first runs by itself. */
  groupSize(commands: readonly Command[], already: number = 0): number {
    const size = commands.findIndex((command) => SOLO.has(command.kind));
    return Math.min(size === -1 ? commands.length : size, GROUP_MAX - already);
  }

  runGroup(
    commands: readonly GroupCommand[],
    late: () => readonly GroupCommand[] = () => [],
  ): readonly Outcome[] {
    return runGroup(this.connection, this.#lookup, commands, late);
  }

  runSolo(command: Command): Outcome {
    try {
      return { ok: true, value: this.#solo(command) };
    } catch (error) {
      return { ok: false, error: toWire(error, this.connection.path) };
    }
  }

  #solo(command: Command): unknown {
    const { connection } = this;
    switch (command.kind) {
      case "erase":
        connection.transaction(true, () =>
          eraseTx(this.#lookup, command.space, command.request.conversation),
        );
        this.#emptyLogOwed = true;
        this.#emptyErasedLog();
        return undefined;
      case "index":
        return connection.transaction(false, () => indexTx(this.#lookup));
      case "reindex":
        return connection.transaction(false, () => connection.sql.db.exec(REBUILD_SEARCH));
      case "close":
        connection.close();
        return undefined;
      default:
        return undefined;
    }
  }

  #emptyErasedLog(): void {
    try {
      this.connection.emptyLog();
      this.#emptyLogOwed = false;
    } catch (error) {
      throw erasedInLog(error, this.connection.path);
    }
  }

  /** Keeps the log short: in pauses, and between groups for those who never leave one. */
  boundLog(): void {
    if (this.#emptyLogOwed) this.#emptyOwedLog();
    else this.connection.checkpointIfGrown();
  }

  #emptyOwedLog(): void {
    try {
      this.#emptyLogOwed = !this.connection.tryEmptyLog();
    } catch {
      // A full disk, say: it stays owed, whoever erased was told, and nobody else's writing ends over it.
    }
  }
}
