/**
 * A process that imports a bundle and is killed right before or behind one of its writes. It prints how many it has made when nothing kills
 * it.
 */
import { writeSync } from "node:fs";
import { Holdfast } from "#conversation/holdfast";
import { openStore } from "#open";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { bundleFile } from "#transfer/bundles/open-import";
import { importBundle } from "#transfer/bundles/import-bundle";

const [address = "", file = "", dieAtText = "0"] = process.argv.slice(2);
const dieAt = Number(dieAtText);

let writes = 0;
async function mortal<T>(write: () => Promise<T>): Promise<T> {
  writes++;
  // Even numbers die before the write, odd ones behind it.
  if (dieAt === writes * 2) process.kill(process.pid, "SIGKILL");
  const done = await write();
  if (dieAt === writes * 2 + 1) process.kill(process.pid, "SIGKILL");
  return done;
}

function decorated(store: Store): Store {
  return decorateStore(store, {
    verbs: (space) => ({
      create: (request) => mortal(() => space.create(request)),
      fork: (request) => mortal(() => space.fork(request)),
      append: (request) => mortal(() => space.append(request)),
      acquire: (request) => mortal(() => space.acquire(request)),
      renew: (request) => mortal(() => space.renew(request)),
      putBlob: (id, bytes) => mortal(() => space.putBlob(id, bytes)),
    }),
  });
}

await using store = await openStore(address);
await importBundle(new Holdfast(decorated(store), "default"), bundleFile(file));
writeSync(1, String(writes));
