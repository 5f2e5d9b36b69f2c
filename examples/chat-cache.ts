/* oxlint-disable no-console */
import { migrateInto, openMigrationSource, verifyMigration } from "../src/transfer/index.ts";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { isLogError, openHoldfast } from "../src/index.ts";
import { fromOpenAI, toOpenAI, type OpenAIMessage } from "../src/transfer/messages/index.ts";

// The table that the app has had all along; a cache in Redis would be read and written alike.
const table = new DatabaseSync("app.db");
table.exec("create table messages (chat_id text, ordinal integer, role text, content text)");
const loadOld = (chat: string): OpenAIMessage[] =>
  table
    .prepare("select role, content from messages where chat_id = ? order by ordinal")
    .all(chat)
    .map(({ role, content }) => ({ role, content }) as OpenAIMessage);
const saveOld = (chat: string, { role, content }: OpenAIMessage): void => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  table
    .prepare("insert into messages select ?1, count(*) + 1, ?2, ?3 from messages where chat_id = ?1")
    .run(chat, role, text);
};

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });
const source = await openMigrationSource("sqlite:app.db");

type Phase = "shadow" | "reads switched" | "writes switched";
let phase: Phase = "shadow";

/** From Holdfast; null where it does not have the chat yet. */
async function loadNew(chat: string): Promise<OpenAIMessage[] | null> {
  try {
    return toOpenAI((await (await holdfast.conversation(chat)).context()).messages);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

async function load(chat: string): Promise<OpenAIMessage[]> {
  const kept = await loadNew(chat);
  if (phase !== "shadow") return kept ?? loadOld(chat); // chats that nobody has touched since are still there
  const old = loadOld(chat);
  if (kept !== null && !isDeepStrictEqual(kept, old)) console.error(`${chat} is not the same`);
  return old;
}

async function save(chat: string, message: OpenAIMessage): Promise<void> {
  if (phase !== "writes switched") {
    saveOld(chat, message);
    // What is there of the chat is brought, once each, and this message behind it.
    await migrateInto(holdfast, source, { only: [chat] });
    return;
  }
  const isOld = (await loadNew(chat)) === null && loadOld(chat).length > 0;
  if (isOld) await migrateInto(holdfast, source, { only: [chat] });
  const conversation = await holdfast.conversation(chat).catch(() => holdfast.create({ id: chat }));
  await conversation.append(
    fromOpenAI([message]).messages.map((said) => ({ type: "message", message: said })),
  );
}

saveOld("long-ago", { role: "user", content: "Remember the milk" });
saveOld("today", { role: "user", content: "What is open?" });

await save("today", { role: "assistant", content: "Two invoices." });
console.log(phase, (await load("today")).length);

phase = "reads switched";
await save("today", { role: "user", content: "Which?" });
console.log(phase, (await load("today")).length, (await load("long-ago")).length);

// Everything that was not touched is brought, and all of it is compared before writes are switched.
await migrateInto(holdfast, source);
const { same, differences } = await verifyMigration(holdfast, source);
console.log(`${same} messages are the same`, differences);

phase = "writes switched";
await save("today", { role: "assistant", content: "17 and 18." });
await save("long-ago", { role: "assistant", content: "I do." });
console.log(phase, (await load("today")).length, loadOld("today").length);
await source.close();
