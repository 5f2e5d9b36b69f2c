import { type Fields, fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";

/** The update with what stands beside it in the params. */
export function updateIn(params: Fields): Fields {
  const beside = params["_meta"] === undefined ? {} : { _meta: params["_meta"] };
  return { ...beside, ...fieldsOf(params["update"]) };
}

/** The agent's words; notices that are said in its place carry our mark. */
export function wordsOf(updates: readonly Fields[]): string {
  return updates
    .filter((update) => update["sessionUpdate"] === "agent_message_chunk" && !isOurs(update))
    .map((update) => textOf(fieldsOf(update["content"])["text"]))
    .join("");
}

function isOurs(update: Fields): boolean {
  return fieldsOf(update["_meta"])["holdfast"] !== undefined;
}
