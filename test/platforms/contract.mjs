// Runs in a folder where the packed library is installed, on whatever engine it is given: the contract over every
// store, then a small use of the library. Prints one line of JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openHoldfast } from "holdfast";
import * as acp from "holdfast/acp";
import { jsonlStore } from "holdfast/jsonl";
import { inMemoryBacking, inMemoryStore } from "holdfast/in-memory";
import { sqliteStore } from "holdfast/sqlite";
import { planAppend } from "holdfast/store";
import { SimWorld, storeContract } from "holdfast/testing";

const root = mkdtempSync(join(process.cwd(), "data-"));
let made = 0;
const fresh = () => join(root, String(++made));
const file = `${fresh()}.db`;
const subjects = {
  memory() {
    const backing = inMemoryBacking();
    return { open: async (nowMs) => inMemoryStore({ backing, nowMs }) };
  },
  jsonl() {
    const dir = fresh();
    return { open: async (nowMs) => jsonlStore({ dir, nowMs }) };
  },
  sqlite() {
    const prefix = `${++made}-`;
    return { open: async (nowMs) => withinSpaces(await sqliteStore({ path: file, nowMs }), prefix) };
  },
};

/** A store whose spaces are those of a larger one under this prefix. */
function withinSpaces(store, prefix) {
  return {
    facets: store.facets,
    space: (id) => store.space(`${prefix}${id}`),
    spaces: async () =>
      (await store.spaces()).flatMap((id) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : [])),
    close: () => store.close(),
  };
}

const failed = [];
let passed = 0;
async function runAll([store, make]) {
  for (const promise of storeContract) {
    if (promise.needsPowerCut) continue;
    try {
      await promise.run(make());
      passed++;
    } catch (error) {
      failed.push(`${store}: ${promise.name}: ${error?.stack ?? error}`);
    }
  }
}
// Cases share a file that stays open, each in spaces of its own: a thread for each would take longer than all of them.
const shared = await openHoldfast({ store: `sqlite:${file}` });
await shared.create();
await Promise.all(Object.entries(subjects).map(runAll));
await shared.close();

async function use(store) {
  const hold = await openHoldfast({ store });
  const conversation = await hold.create({ title: "tried" });
  await conversation.append({
    type: "message",
    message: { role: "user", content: [{ type: "text", text: "hello" }] },
  });
  const fork = await conversation.fork();
  const { messages } = await fork.context();
  const [one, again] = [await hold.create({ key: "job" }), await hold.create({ key: "job" })];
  await hold.close();
  return one.id === again.id ? messages.length : null;
}

const used = [];
for (const store of ["memory:", `jsonl:${fresh()}`, `sqlite:${fresh()}.db`]) used.push(await use(store));
const exported = [typeof planAppend, typeof SimWorld, Object.keys(acp).length > 0];
rmSync(root, { recursive: true });
console.log(JSON.stringify({ passed, failed, used, exported }));
