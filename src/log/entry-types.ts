import { FACT_TABLE } from "./table/fact-table.ts";
import { NODE_TABLE } from "./table/node-table.ts";
import type { EntryTypeRow } from "./table/entry-type-row.ts";
import type { Entry, EntryType, FactType, NodeType, SettingType } from "./entry.ts";
import type { EntryId } from "./ids.ts";
import type { Json } from "./json/json-text.ts";
import type { SummaryChange } from "./summary.ts";

/** The same rows where the type is known only when the program runs. */
interface AnyRow extends Omit<
  EntryTypeRow<EntryType>,
  "is" | "target" | "planned" | "durable" | "said" | "searched" | "summary"
> {
  readonly is: "node" | "fact";
  readonly target?: string;
  readonly planned?: readonly string[];
  readonly durable?: "always" | "never" | ((body: unknown) => boolean);
  readonly inContext?: true | ((body: unknown) => boolean);
  readonly searched?: (body: unknown) => string;
  readonly summary?: (body: unknown, time: string) => SummaryChange | null;
}
const TYPES = { ...NODE_TABLE, ...FACT_TABLE } as unknown as { readonly [T in EntryType]: AnyRow };
const NAMES = Object.keys(TYPES) as readonly EntryType[];
type AnyBody = { readonly [name: string]: unknown };

function typesWhere(holds: (row: AnyRow) => boolean): readonly EntryType[] {
  return NAMES.filter((type) => holds(TYPES[type]));
}

export const NODE_TYPES: readonly NodeType[] = typesWhere(({ is }) => is === "node") as readonly NodeType[];
export const FACT_TYPES: readonly FactType[] = typesWhere(({ is }) => is === "fact") as readonly FactType[];
export const OUTSIDE_TYPES: readonly EntryType[] = typesWhere(({ outside }) => outside === true);
export const SEARCHED_TYPES: readonly EntryType[] = typesWhere(({ searched }) => searched !== undefined);

/** The facts about nodes that a fork's file carries one by one, as its sources have them. */
export const INHERITED_FACTS: readonly EntryType[] = typesWhere(
  ({ is, target, inherited }) => is === "fact" && target !== undefined && inherited === undefined,
);

/** The types that change what lists show. */
export const SUMMARY_TYPES: readonly EntryType[] = typesWhere(({ summary }) => summary !== undefined);

export const SETTING_TYPES: readonly SettingType[] = typesWhere(
  ({ setting }) => setting === true,
) as readonly SettingType[];

export function isSetting(type: EntryType): type is SettingType {
  return TYPES[type].setting === true;
}

export function isEntryType(type: string): type is EntryType {
  return Object.hasOwn(TYPES, type);
}

/** A fork's own `conversation` entry records its origin; it lies on no path, so it is a fact there. */
export function isNode(entry: { readonly type: EntryType; readonly origin?: unknown }): boolean {
  return entry.type === "conversation" ? entry.origin === undefined : TYPES[entry.type].is === "node";
}

export function checkShape(type: EntryType, body: Json): void {
  TYPES[type].shape(body, type);
}

/** What the body of such an entry holds, as a JSON Schema. */
export function bodySchema(type: EntryType): { readonly [name: string]: Json } {
  return TYPES[type].shape.schema;
}

/** The number of a type in an index by type; null where there is none. */
export function typeNumber(type: EntryType): number | null {
  return TYPES[type].number;
}

/** The node a body points at besides its parent. */
export function targetOf(type: EntryType, body: AnyBody): EntryId | null {
  const { target } = TYPES[type];
  return target === undefined ? null : (body[target] as EntryId);
}

const PLANNED_MEMBERS = new Map(
  NAMES.map((type) => {
    const { target, planned = [] } = TYPES[type];
    return [type, target === undefined ? planned : [target, ...planned]] as const;
  }),
);

/** The members of a body that decide where the entry goes and what it does there; the payload holds the rest. */
export function plannedMembers(type: EntryType): readonly string[] {
  return PLANNED_MEMBERS.get(type) ?? [];
}

/** `true`: it must be on disk before it is acknowledged; `false`: it need not; null: as was asked for. */
export function mustBeDurable(type: EntryType, body: unknown): boolean | null {
  const { durable } = TYPES[type];
  if (typeof durable === "function") return durable(body) ? true : null;
  return durable === undefined ? null : durable === "always";
}

/** Whether a node says anything to a model, so that an upstream can lack it. Settings, state, skills and seeds do not. */
export function reachesModel(entry: Entry): boolean {
  const { inContext = false } = TYPES[entry.type];
  return typeof inContext === "function" ? inContext(entry) : inContext;
}

/** The words of an entry that people search for; empty for entries that are bookkeeping. */
export function searchText(entry: Entry): string {
  return TYPES[entry.type].searched?.(entry) ?? "";
}

/** What an entry changes of what lists show; null: nothing. */
export function summaryChange(type: EntryType, body: unknown, time: string): SummaryChange | null {
  return TYPES[type].summary?.(body, time) ?? null;
}
