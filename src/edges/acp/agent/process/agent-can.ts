import type { Json } from "#log/json/json-text";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

/** What an agent said it can do with its sessions. */
export interface AgentCan {
  readonly load: boolean;
  readonly resume: boolean;
  readonly fork: boolean;
  readonly list: boolean;
  readonly close: boolean;
  readonly delete: boolean;
  /** The ids of its ways to log in. */
  readonly logins: readonly string[];
}

export const UNASKED: AgentCan = {
  load: false,
  resume: false,
  fork: false,
  list: false,
  close: false,
  delete: false,
  logins: [],
};

/** Reads the result of `initialize`. */
export function agentCan(result: Json): AgentCan {
  const { loadSession, sessionCapabilities } = fieldsOf(fieldsOf(result)["agentCapabilities"]);
  const session = fieldsOf(sessionCapabilities);
  const has = (name: string): boolean => typeof session[name] === "object" && session[name] !== null;
  return {
    load: loadSession === true,
    resume: has("resume"),
    fork: has("fork"),
    list: has("list"),
    close: has("close"),
    delete: has("delete"),
    logins: listIn(fieldsOf(result)["authMethods"] ?? null).map(({ id }) => wordsIn(id)),
  };
}
