/** What an editor answers when an agent asks it something. */
import { readFileSync, writeFileSync } from "node:fs";
import { at, listAt, textAt } from "./json.ts";

export type Policy = "allow" | "reject" | "hold";

/** Undefined when the request stays open. */
export function answerTo(message: unknown, policy: Policy): object | undefined {
  switch (textAt(message, "method")) {
    case "session/request_permission":
      return policy === "hold" ? undefined : { result: { outcome: choose(message, policy) } };
    case "fs/read_text_file":
      return { result: { content: readFileSync(textAt(message, "params", "path"), "utf8") } };
    case "fs/write_text_file":
      writeFileSync(textAt(message, "params", "path"), textAt(message, "params", "content"));
      return { result: {} };
    default:
      return { error: { code: -32601, message: "This host does not do that" } };
  }
}

function choose(message: unknown, policy: "allow" | "reject"): object {
  const kind = policy === "allow" ? "allow_once" : "reject_once";
  const option = listAt(message, "params", "options").find((one) => at(one, "kind") === kind);
  return option === undefined
    ? { outcome: "cancelled" }
    : { outcome: "selected", optionId: textAt(option, "optionId") };
}
