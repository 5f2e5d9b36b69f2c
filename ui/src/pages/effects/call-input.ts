import { itemsOf, membersOf } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";

function memberOf(object: string, name: string): string | null {
  return object.startsWith("{")
    ? (membersOf(object).findLast((one) => one.name === name)?.text ?? null)
    : null;
}

/** The arguments of a call to the letter, in the text of the entry that holds it; null: it is not in it. */
export function callInput(entry: string, call: string): string | null {
  const content = memberOf(memberOf(entry, "message") ?? "", "content");
  if (content === null || !content.startsWith("[")) return null;
  const block = itemsOf(content).find((one) => {
    const id = memberOf(one, "id");
    return id !== null && readJson(id) === call;
  });
  return block === undefined ? null : memberOf(block, "input");
}
