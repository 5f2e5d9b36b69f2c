/**
 * A process that saves into a memory that others use at the same time, and takes every third one out again for ever. It prints the key
 * of each that is to stay, once it was acknowledged. `die`: it is killed right before or after the given write.
 */
import { writeSync } from "node:fs";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { openStore } from "#open";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";

const [address = "", name = "p", countText = "10", dieAtText = "0"] = process.argv.slice(2);
const [count, dieAt] = [Number(countText), Number(dieAtText)];

let writes = 0;
function mortal(store: Store): Store {
  const write = async <T>(act: () => Promise<T>): Promise<T> => {
    writes++;
    // Even numbers die before the write, odd ones behind it.
    if (dieAt === writes * 2) process.kill(process.pid, "SIGKILL");
    const done = await act();
    if (dieAt === writes * 2 + 1) process.kill(process.pid, "SIGKILL");
    return done;
  };
  return decorateStore(store, {
    verbs: (space) => ({
      create: (request) => write(() => space.create(request)),
      append: (request) => write(() => space.append(request)),
      erase: (id) => write(() => space.erase(id)),
    }),
  });
}

await using store = await openStore(address);
const memory = new Memory(new Holdfast(mortal(store), "default"));
for (let n = 0; n < count; n++) {
  const { key } = await memory.save("user", { title: `${name} ${n}`, content: `word of ${name} ${n}` });
  if (n % 3 === 0) await memory.removeForever("user", key);
  else writeSync(1, `${key}\n`);
}
