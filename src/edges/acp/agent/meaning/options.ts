import type { Json } from "../../../../log/json-text.ts";
import { fieldsOf } from "./dialect.ts";

/** A list of objects, as options, modes and servers come; empty when it is none. */
export function optionsOf(options: Json): readonly { readonly [name: string]: Json }[] {
  return Array.isArray(options) ? (options as readonly Json[]).map((option) => fieldsOf(option)) : [];
}

/** The option that chooses the model. */
export function isModel(option: { readonly [name: string]: Json }): boolean {
  return option["category"] === "model" || option["id"] === "model";
}
