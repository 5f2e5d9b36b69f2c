/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { exportBundle, exportMarkdown } from "../src/transfer/index.ts";

await using holdfast = await openHoldfast({ store: "sqlite:chats.db" });
const text = "Deploy with API_KEY=a1b2c3d4e5f6g7h8, please";
const message = { role: "user", content: [{ type: "text", text }] } as const;
const chat = await holdfast.create({ title: "Deploying", entries: [{ type: "message", message }] });

const page = await exportMarkdown(chat, {
  onHit: ({ kind, preview, where }) => console.log(`taken out: ${kind} ${preview} in ${where}`),
});
console.log(page);

const redact = {
  onHit: () => undefined,
  onUnread: (blob: string) => console.log(`not looked into: ${blob}`),
};
for await (const bytes of exportBundle(holdfast, [chat.id], { redact })) console.log(bytes.length > 0);
