/* oxlint-disable no-console */
import { mkdir, writeFile } from "node:fs/promises";
import { openHoldfast } from "../src/index.ts";
import { Agent, Skills } from "../src/agent/index.ts";

await mkdir(".agents/skills/changelog", { recursive: true });
await writeFile(
  ".agents/skills/changelog/SKILL.md",
  `---
name: changelog
description: Writes lines of a changelog. Use when a change is done.
---
One line per change, in the present tense, without a full stop.
`,
);

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ cwd: process.cwd() });
await using agent = new Agent(holdfast, { model: "sim", skills: new Skills() });

// A person activates one; a model does the same by the tool activate_skill.
const { skill } = await agent.activateSkill(chat, "changelog");
// Name, source and digest: what the log keeps.
console.log(skill);
await agent.send(chat, "hello"); // its text is part of this prompt, and of every one from here on

// Any process that comes later has it active; what is gone or changed since is told.
const { skills, missing } = await agent.restore(chat);
console.log(skills.length, missing);
