import { type Call, withSync } from "#stores/postgres/db";
import { setSpace } from "./row-security.ts";

/** Conversations with waiting tails. `$1` their spaces, `$2` their ids, `$3` the known head of each. */
const GROWN_TYPES: readonly string[] = ["text[]", "text[]"];
const WAIT_TYPES: readonly string[] = ["text[]", "text[]", "int8[]"];

const grown = (where: string): string => `select w.space || ' ' || w.id, c.head_seq
  from unnest($1, $2) as w (space, id) left join @.conversations c on c.space = w.space and c.id = w.id and c.listed ${where}`;

/**
 * Has the append that comes next say that it came. No append is ever waited for or kept waiting: a row that is held is
 * left out. Those that are told, or need not be, as they have grown or are gone, are answered.
 */
const wait = (start: string, where: string): string => `${start}
wanted as materialized (select w.space, w.id, w.seq from unnest($1, $2, $3) as w (space, id, seq) ${where}),
held as materialized (select c.space, c.id from wanted w
  join @.conversations c on c.space = w.space and c.id = w.id and c.listed and c.head_seq = w.seq
    and c.wake_seq is distinct from c.head_seq for no key update of c skip locked),
told as (update @.conversations c set wake_seq = c.head_seq from held h
  where c.space = h.space and c.id = h.id returning c.space, c.id)
select t.space || ' ' || t.id, false from told t
union all select w.space || ' ' || w.id, c.head_seq is null or c.head_seq > w.seq from wanted w
  left join @.conversations c on c.space = w.space and c.id = w.id and c.listed
where c.head_seq is distinct from w.seq or c.wake_seq = c.head_seq`;

export const GROWN: Call = { name: "grown_1", types: GROWN_TYPES, text: grown("") };
export const WAIT: Call = {
  name: "wait_1",
  types: WAIT_TYPES,
  text: wait(`${withSync("true")},`, "where exists (select from sync)"),
};

/** The same for the tables of many spaces, which show one at a time. */
const eachSpace = ({ name, types }: Call, text: string, first: string): string =>
  `create function @.${name}(${types.join(", ")}, out name text, out answer ${name === WAIT.name ? "boolean" : "int8"})
returns setof record language plpgsql volatile as $each$
#variable_conflict use_column
declare
  one text;
begin${first}
  for one in select distinct u.space from unnest($1) as u (space) loop
    name := ${setSpace("one")};
    return query ${text};
  end loop;
end $each$`;

export const TAIL_FUNCTIONS: readonly string[] = [
  eachSpace(GROWN, grown("where w.space = one"), ""),
  eachSpace(
    WAIT,
    wait("with", "where w.space = one"),
    "\n  perform set_config('synchronous_commit', 'off', true);",
  ),
];
