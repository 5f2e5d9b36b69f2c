import type { Fields } from "#log/json/json-fields";

/** The option that chooses the model. */
export function isModel(option: Fields): boolean {
  return option["category"] === "model" || option["id"] === "model";
}
