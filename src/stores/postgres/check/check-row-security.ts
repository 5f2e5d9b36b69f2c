import type { Finding } from "#store/requests";
import type { Db } from "#stores/postgres/db/db";
import { type FencedTable, fencedTables, isFenced } from "#stores/postgres/tables/row-security";

const ROLE = "select rolname::text, rolsuper, rolbypassrls from pg_roles where rolname = current_user";

export interface Fence {
  readonly role: string;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly tables: readonly FencedTable[];
  /** Whether the store was opened with the wish for it. */
  readonly wanted: boolean;
}

/** Why row security does not hold though somebody counts on it; nothing where nobody does. */
export function fenceNotes({ role, superuser, bypasses, tables, wanted }: Fence): readonly string[] {
  if (!wanted && !tables.some(({ enabled }) => enabled)) return [];
  const notes: string[] = [];
  if (superuser)
    notes.push(
      `Row security does not hold: role ${role} is a superuser, who sees every space. Connect as a plain role`,
    );
  else if (bypasses)
    notes.push(
      `Row security does not hold: role ${role} has BYPASSRLS. Take it away: alter role ${role} nobypassrls`,
    );
  const off = tables.filter(({ enabled }) => !enabled);
  if (off.length > 0) notes.push(`Row security is not on for ${namesOf(off)}. ${OPEN_ONCE}`);
  const unforced = tables.filter(({ enabled, forced }) => enabled && !forced);
  if (unforced.length > 0)
    notes.push(
      `Row security is not forced for ${namesOf(unforced)}, so it does not hold for ${
        unforced.some(({ owned }) => owned) ? `role ${role}, their owner` : "their owner"
      }. ${OPEN_ONCE}`,
    );
  const bare = tables.filter((table) => table.enabled && table.forced && !isFenced(table));
  if (bare.length > 0)
    notes.push(`Row security has no policy for ${namesOf(bare)}, so nobody sees their rows. ${OPEN_ONCE}`);
  return notes;
}

const OPEN_ONCE = "Open the store once for writing, as the owner of the tables, with rowSecurity";

function namesOf(tables: readonly FencedTable[]): string {
  return tables.map(({ name }) => name).join(", ");
}

export async function checkFence(db: Db, wanted: boolean): Promise<readonly Finding[]> {
  const [row] = await db.read<[string, boolean, boolean]>(ROLE);
  const [role = "", superuser = false, bypasses = false] = row ?? [];
  const tables = await fencedTables((text, values) => db.read(text, ...values), db.schema);
  return fenceNotes({ role, superuser, bypasses, tables, wanted }).map((message) => ({
    conversation: null,
    severity: "note",
    message,
    position: null,
    reachableSeq: null,
    repaired: false,
  }));
}
