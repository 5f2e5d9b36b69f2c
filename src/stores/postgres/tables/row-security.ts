import { readJson } from "#log/json/read-json";

/** A second fence around spaces: the tables themselves show a transaction the rows of the one space that it has named. */

const NAMED = "current_setting('holdfast.space', true)";

/** Names the space until the end of the transaction, so that nothing of it is left in a connection. */
export function setSpace(space: string): string {
  return `set_config('holdfast.space', ${space}, true)`;
}

/** A name that no space can have. It sees the heads of conversations and changes nothing: spaces are found by it. */
export const EVERY_SPACE = "*";

export interface FencedTable {
  readonly name: string;
  readonly enabled: boolean;
  /** Else it does not hold for the owner. */
  readonly forced: boolean;
  readonly policies: readonly string[];
  /** Whether the role that asks may act as the owner. */
  readonly owned: boolean;
}

/** Every table with a space in it, partitions too: a policy of the whole does not hold for who asks a part. */
const TABLES = `select c.relname::text, c.relrowsecurity, c.relforcerowsecurity,
  array_to_json(array(select p.polname::text from pg_policy p where p.polrelid = c.oid))::text,
  pg_has_role(c.relowner, 'member')
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'space' and not a.attisdropped
where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p') order by 1`;

type Asks = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>;

export async function fencedTables(ask: Asks, schema: string): Promise<readonly FencedTable[]> {
  return (await ask(TABLES, [schema])).map(([name, enabled, forced, policies, owned]) => ({
    name: String(name),
    enabled: enabled === true,
    forced: forced === true,
    policies: readJson(String(policies)) as string[],
    owned: owned === true,
  }));
}

const ONE_SPACE = "one_space";
const SPACE_NAMES = "space_names";

export function isFenced({ name, enabled, forced, policies }: FencedTable): boolean {
  return enabled && forced && policiesFor(name).every((policy) => policies.includes(policy));
}

function policiesFor(table: string): readonly string[] {
  return table === "conversations" ? [ONE_SPACE, SPACE_NAMES] : [ONE_SPACE];
}

/** The statements that put row security on a table, or those still missing. */
export function fenceTable(table: FencedTable): readonly string[] {
  const { name, enabled, forced, policies } = table;
  const missing = policiesFor(name).filter((policy) => !policies.includes(policy));
  return [
    ...missing.map((policy) => `create policy ${policy} on @.${name} ${POLICIES[policy] ?? ""}`),
    ...(enabled ? [] : [`alter table @.${name} enable row level security`]),
    ...(forced ? [] : [`alter table @.${name} force row level security`]),
  ];
}

const POLICIES: { readonly [name: string]: string } = {
  [ONE_SPACE]: `using (space = ${NAMED}) with check (space = ${NAMED})`,
  [SPACE_NAMES]: `for select using (${NAMED} = '${EVERY_SPACE}')`,
};
