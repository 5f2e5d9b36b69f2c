import type { ApiError } from "#edges/http/client/index";

const TREE = "The tree of its conversation shows the entries there are.";

/** What a person does next, where the words of the server are for programs. */
const FOR_PEOPLE: { readonly [code: string]: string } = {
  conversation_not_found: "It may have been erased, or lie in another space: the history lists what is here.",
  entry_not_found: TREE,
  unknown_parent: TREE,
  unknown_target: TREE,
  run_not_found: "The page Runs lists those there are.",
  invalid_boundary: "Its tab Context shows what the model sees now.",
  invalid_request: "Change what was asked for, and try again.",
  wrong_path: "Reload this page: the server may be another version than it was.",
  wrong_method: "Reload this page: the server may be another version than it was.",
  no_token: "Open the link that the server prints.",
  wrong_token: "Open the link that the server prints.",
};

export function wayOn({ code, next }: Pick<ApiError, "code" | "next">): string {
  return Object.hasOwn(FOR_PEOPLE, code) ? (FOR_PEOPLE[code] ?? next) : next;
}
