import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { type Message, readableAt, type Span, spanAt, stringAt, textAt } from "#edges/acp/wire/spans";
import { type Fields, fieldsIn, fieldsOf } from "#log/json/json-fields";
import type { Conversation } from "#conversation/conversation";
import { detailsOf, isInternal } from "#log/message";
import type { Link } from "#log/projections/chain";

/** A request of the host: its parts as they are needed, and the bytes they came in. */
export class HostRequest {
  readonly message: Message;
  /** The JSON text of its id; null for a notification. */
  readonly id: string | null;
  readonly method: string;
  /** The host does not want it any more. */
  isWithdrawn: boolean = false;
  /** Called when it is withdrawn while someone works on it. */
  onWithdrawn: (() => void) | null = null;

  constructor(message: Message) {
    this.message = message;
    this.id = message.id === null ? null : textAt(message.bytes, message.id);
    this.method = message.method ?? "";
  }

  get paramsText(): string {
    const { bytes, params } = this.message;
    return params === null ? "{}" : textAt(bytes, params);
  }

  value(...path: readonly string[]): Json | undefined {
    const { bytes } = this.message;
    const span = this.#span(path);
    if (span === null) return undefined;
    const value = readableAt(bytes, span);
    if (value === null && textAt(bytes, span) !== "null")
      throw new LogError("invalid_request", `The params of ${this.method} are invalid`);
    return value;
  }

  text(...path: readonly string[]): string | null {
    return stringAt(this.message.bytes, this.#span(path));
  }

  #span([name, ...path]: readonly string[]): Span | null {
    const { bytes, params } = this.message;
    const member = name === undefined ? params : this.message.param(name);
    return member === null ? null : spanAt(bytes, member, path);
  }

  /** The conversation it is about. */
  get session(): string {
    const id = this.text("sessionId");
    if (id === null) throw new LogError("invalid_request", `${this.method} requires a sessionId`);
    return id;
  }
}

/** What an option must be, described for the host, and the check. */
interface OptionKind {
  readonly is: string;
  fits(value: Json): boolean;
}

const TEXT: OptionKind = { is: "a string", fits: (value) => typeof value === "string" };
const FLAG: OptionKind = { is: "true or false", fits: (value) => typeof value === "boolean" };
const LIST: OptionKind = { is: "a list", fits: (value) => Array.isArray(value) };
const PLACE: OptionKind = {
  is: "an id, or a whole number from 1",
  fits: (value) =>
    typeof value === "string" || (typeof value === "number" && Number.isInteger(value) && value >= 1),
};

type Options = { readonly [name: string]: OptionKind };

/** The options that each method takes in `_meta.holdfast`. */
const OPTIONS: { readonly [method: string]: Options } = {
  "session/prompt": { edit: PLACE, fork: FLAG, resume: PLACE, force: FLAG },
  "session/fork": { at: TEXT },
  "session/load": { history: LIST },
  "session/resume": { history: LIST },
  logout: { agent: TEXT, keepContext: FLAG },
};

/** The members of `_meta.holdfast`. A misspelled or malformed option is rejected; else it would be ignored. */
export function optionsIn(request: HostRequest): Fields {
  const options = request.value("_meta", "holdfast");
  if (options === undefined) return {};
  const kinds = OPTIONS[request.method] ?? {};
  const fields = fieldsIn(options);
  if (fields === null) throw wrong(request, "_meta.holdfast must be an object", kinds);
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) throw wrong(request, `Unknown option _meta.holdfast.${name}`, kinds);
    if (!kind.fits(value)) throw wrong(request, `_meta.holdfast.${name} must be ${kind.is}`, kinds);
  }
  return fields;
}

function wrong({ method }: HostRequest, what: string, kinds: Options): LogError {
  return new LogError("invalid_request", `${what}. Options of ${method}: ${Object.keys(kinds).join(", ")}.`);
}

/** The entry a host means: by our id of it, or by the agent's id of the message. Rejects an id as reads of an entry do. */
export async function findMessage(conversation: Conversation, id: string): Promise<string> {
  const branch = await conversation.branch();
  const match = branch.findLast((entry) => {
    if (entry.id === id) return true;
    if (entry.type !== "message") return false;
    const { messages } = fieldsOf(detailsOf(entry));
    return Array.isArray(messages) && (messages as readonly unknown[]).includes(id);
  });
  return match?.id ?? (await conversation.entry(id)).id;
}

/** A message of the user's by its id, or counted from the end of the branch: 1 is the last. */
export async function findPrompt(conversation: Conversation, which: Json): Promise<string | null> {
  if (typeof which === "string") return findMessage(conversation, which);
  const branch = await conversation.branch();
  const prompts = branch.filter(
    (entry) => entry.type === "message" && entry.message.role === "user" && !isInternal(entry),
  );
  return typeof which === "number" && which >= 1 ? (prompts.at(-which)?.id ?? null) : null;
}

/** A session of the chain by its id, or by its place in it: 1 is the first. */
export async function findLink(conversation: Conversation, which: Json): Promise<Link | null> {
  const chain = (await conversation.chain()).filter((link) => !link.inherited);
  if (typeof which === "number") return chain[which - 1] ?? null;
  return chain.findLast((link) => link.id === which) ?? null;
}
