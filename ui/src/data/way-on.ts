import type { ApiError } from "#edges/http/client/index";

const TREE = "The tree of the conversation lists its entries.";

/** What a person does next, where the words of the server are for programs. */
const FOR_PEOPLE: { readonly [code: string]: string } = {
  conversation_not_found: "It may have been deleted, or belong to another space.",
  entry_not_found: TREE,
  unknown_parent: TREE,
  unknown_target: TREE,
  run_not_found: "The Runs page lists all runs.",
  invalid_boundary: "The Context tab shows what the model receives.",
  invalid_request: "Change the request and try again.",
  wrong_path: "Reload this page. The server may run another version now.",
  wrong_method: "Reload this page. The server may run another version now.",
  no_token: "Run `holdfast ui` again and open the link it prints.",
  wrong_token: "Run `holdfast ui` again and open the link it prints.",
};

export function wayOn({ code, next }: Pick<ApiError, "code" | "next">): string {
  return Object.hasOwn(FOR_PEOPLE, code) ? (FOR_PEOPLE[code] ?? next) : next;
}
