import { LogError } from "#log/errors";

/** Which columns of a table of messages say what. */
export interface TableColumns {
  readonly conversation: string;
  /** By which rows of a conversation are ordered; one that is unique in it comes last. */
  readonly order: readonly string[];
  /** Absent where the content is whole messages. */
  readonly role: string | null;
  readonly content: string;
  readonly created: string | null;
  /** The space of each conversation: only where it was said which column that is. */
  readonly space: string | null;
  /** Of a message: its id there, and whether people are not shown it. */
  readonly message: string | null;
  readonly internal: string | null;
  /** Of a conversation: the one that caused it, and its mailbox. */
  readonly parent: string | null;
  readonly mailbox: string | null;
  /** Members of messages that have a column of their own, as Chat Completions has them. */
  readonly members: readonly string[];
}

const CONVERSATION = "conversation_id conversation chat_id thread_id session_id chat thread session".split(
  " ",
);
const ORDINAL =
  "ordinal message_number message_index seq sequence position idx index number message_seq".split(" ");
const ROLE = ["role", "author_role", "sender_role"];
const CONTENT = "content message body text payload parts data".split(" ");
const CREATED = "created_at created inserted_at timestamp sent_at time ts".split(" ");
const MESSAGE = ["message_id", "message_uuid"];
const INTERNAL = ["internal", "is_internal"];
const PARENT =
  "parent_conversation_id parent_conversation parent_chat_id parent_thread_id parent_session_id".split(" ");
const MAILBOX = ["mailbox", "mailbox_id"];
const MEMBERS = ["tool_calls", "tool_call_id", "name"];

/** A store's own table looks like one of messages, and may be in the same database. */
const OWN = ["conversation", "segment", "payload"];

const GIVEN = [
  "conversation",
  "ordinal",
  "role",
  "content",
  "created",
  "space",
  "message",
  "internal",
  "parent",
  "mailbox",
] as const;

/** Columns of a table of messages by what they say. */
export interface GivenColumns {
  readonly conversation?: string;
  readonly ordinal?: string;
  readonly role?: string;
  readonly content?: string;
  readonly created?: string;
  readonly space?: string;
  readonly message?: string;
  readonly internal?: string;
  readonly parent?: string;
  readonly mailbox?: string;
}

/** Reads `conversation=chat_id,ordinal=n,…`. */
export function parseColumns(text: string): GivenColumns {
  const given: { [name: string]: string } = {};
  for (const part of text.split(",").filter(Boolean)) {
    const [name = "", column = ""] = part.split("=").map((side) => side.trim());
    if (!(GIVEN as readonly string[]).includes(name) || column === "")
      throw new LogError(
        "invalid_request",
        `--columns takes ${GIVEN.map((one) => `${one}=COLUMN`).join(",")}, each or any of them, not "${part}"`,
      );
    given[name] = column;
  }
  return given;
}

/** The columns of a table of messages: as given, else by the names that they usually have. Null where some is not found. */
export function columnsOf(columns: readonly string[], given: GivenColumns = {}): TableColumns | null {
  if (OWN.every((column) => columns.includes(column))) return null;
  const usual = (names: readonly string[]): string | null =>
    names
      .map((name) => columns.find((column) => plain(column) === name))
      .find((found) => found !== undefined) ?? null;
  const pick = (name: keyof GivenColumns, names: readonly string[]): string | null =>
    given[name] ?? usual(names);
  const [conversation, content] = [pick("conversation", CONVERSATION), pick("content", CONTENT)];
  const [role, created] = [pick("role", ROLE), pick("created", CREATED)];
  const ordinal = pick("ordinal", ORDINAL);
  const id = usual(["id", "message_id"]);
  const order = ordinal === null ? [created, id].filter((one) => one !== null) : [ordinal];
  if (conversation === null || content === null || order.length === 0) return null;
  const members = MEMBERS.filter((member) => columns.includes(member));
  return {
    conversation,
    order,
    role,
    content,
    created,
    space: given.space ?? null,
    message: pick("message", MESSAGE),
    internal: pick("internal", INTERNAL),
    parent: pick("parent", PARENT),
    mailbox: pick("mailbox", MAILBOX),
    members,
  };
}

/** `conversationId` and `conversation_id` are the same name. */
function plain(column: string): string {
  return column.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

/** Given names that the table does not have, of which nobody should hear from the database. */
export function unknownColumns(columns: readonly string[], given: GivenColumns): readonly string[] {
  return Object.values(given).filter((column: string) => !columns.includes(column));
}
