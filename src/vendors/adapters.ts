import type { Json } from "#log/json/json-text";
import { fieldsOf, textIn } from "#log/json/json-fields";
import type { Adapter, Dialect, Vendor } from "./vendor.ts";

/** Why this version cannot be used, as one sentence for people; null when it can, or nothing is known of it. */
export function tooOld(vendor: Vendor, introduced: Json): string | null {
  const { adapter, version } = adapterIn(vendor, introduced);
  if (adapter === null || (adapter.oldest !== null && !isBefore(version, adapter.oldest))) return null;
  const needed = adapter.oldest === null ? "another adapter" : `${adapter.oldest} or newer`;
  return `${adapter.name} ${version} is too old: Holdfast needs ${needed}. Update it with \`${adapter.update}\``;
}

/** How this version of the agent speaks. Text without an id is a remark only where the model's text has one. */
export function dialectOf(vendor: Vendor, introduced: Json): Dialect {
  const { dialect } = vendor;
  if (!dialect.remarksLackId || vendor.adapters === undefined) return dialect;
  const { adapter, version } = adapterIn(vendor, introduced);
  const sendsIds = adapter?.messageIds !== undefined && !isBefore(version, adapter.messageIds);
  return sendsIds ? dialect : { ...dialect, remarksLackId: false };
}

function adapterIn(
  vendor: Vendor,
  introduced: Json,
): { readonly adapter: Adapter | null; readonly version: string } {
  const { name, version } = fieldsOf(fieldsOf(introduced)["agentInfo"]);
  const adapter = vendor.adapters?.find((one) => one.name === textIn(name)) ?? null;
  return { adapter, version: textIn(version) ?? "" };
}

/** Compares the numbers of two versions; a text without numbers is before none. */
function isBefore(version: string, other: string): boolean {
  const numbers = numbersIn(version);
  const others = numbersIn(other);
  const difference = others.findIndex((number, index) => number !== (numbers[index] ?? 0));
  return numbers.length > 0 && difference !== -1 && (numbers[difference] ?? 0) < (others[difference] ?? 0);
}

function numbersIn(version: string): readonly number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "").split(".").filter(Boolean).map(Number);
}
