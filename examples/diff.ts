/* oxlint-disable no-console */
import { assistant, openHoldfast, user } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ id: "chat", entries: [user("Which file holds the cache?")] });
const fork = await chat.fork({ id: "retry" });
await chat.append(assistant("cache.go"));
await fork.append(assistant("store.go"));

const [diff] = await holdfast.compare({ conversation: "chat" }, [{ conversation: "retry" }]);
for (const { op, a, b } of diff?.rows ?? []) console.log(op, a, b);
console.log(diff?.divergence?.kind, diff?.totals.a.turns);
