/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { Agent, Memory } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const memory = new Memory(holdfast);

// Of the person, everywhere; and of a project, wherever its folder is.
await memory.save("user", { title: "Language", content: "Answers are in German", kind: "preference" });
const project = await memory.projectOf(process.cwd());
await memory.save({ project: project?.id ?? "" }, { title: "测试", content: "npm test 运行全部测试" });

// Every conversation is told of it, and the model may save more with the tool remember.
await using agent = new Agent(holdfast, { model: "sim", memory });
const chat = await holdfast.create({ cwd: process.cwd() });
await agent.send(chat, "Wie laufen die Tests?");
console.log((await agent.restore(chat)).memory?.block);

// In any language; what is typed is looked for as it is.
const hits = await memory.search(["user", { project: project?.id ?? "" }], "测试");
console.log(hits.map(({ scope, memory: { key } }) => `${scope}/${key}`));

await memory.remove("user", "language"); // told to nobody any more
await memory.restore("user", "language");
await memory.removeForever("user", "language"); // in no byte of the store any more
console.log(await memory.list("user"));
