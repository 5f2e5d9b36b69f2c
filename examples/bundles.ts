/* oxlint-disable no-console */
import { bundleFile, exportBundle, importBundle } from "../src/transfer/index.ts";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openHoldfast, user } from "../src/index.ts";

await using production = await openHoldfast({ store: "sqlite:production.db" });
const chat = await production.create({ id: "changelog" });
await chat.append(user("Write the changelog"));
const fork = await chat.fork({ id: "second-try" });
await fork.append(user("Shorter, please"));

const bytes = Readable.from(exportBundle(production, ["changelog"], { withForks: true }));
await pipeline(bytes, createWriteStream("family.jsonl"));

await using laptop = await openHoldfast({ store: "jsonl:laptop" });
const { conversations } = await importBundle(laptop, bundleFile("family.jsonl"));
for (const { conversation, source, entries, links } of conversations)
  console.log(conversation, source, entries, links);
