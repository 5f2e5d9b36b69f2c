/* oxlint-disable no-console */
import { type EntryBody, openHoldfast } from "../src/index.ts";

function said(id: string, role: "user" | "assistant", text: string): EntryBody {
  return { type: "message", id, message: { role, content: [{ type: "text", text }] } };
}

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });
const chat = await holdfast.create({ title: "Two ways" });
await chat.append([said("q", "user", "Tabs or spaces?"), said("a", "assistant", "Tabs.")]);

// Back to the question: the next entry grows from there, and the first answer stays readable.
await chat.goTo("q");
await chat.append(said("b", "assistant", "Spaces."));
console.log(
  (await chat.branch())
    .map((entry) => entry.id)
    .slice(1)
    .join(" → "),
);
console.log(
  (await chat.branch({ at: "a" }))
    .map((entry) => entry.id)
    .slice(1)
    .join(" → "),
);

// A fork shares the past, is never changed by its source and never changes it.
const fork = await chat.fork({ at: "a" });
await fork.append(said("c", "user", "Are you sure?"));

// A compaction makes the context shorter. The log keeps every word.
await fork.append({ type: "compaction", summary: "They prefer tabs.", firstKeptEntryId: "c" });
console.log((await fork.context()).messages.length, "messages in the context");
console.log((await fork.branch()).length, "entries on the branch");
