/** The least that stands between a host and an agent: a process that passes their lines on, and looks at none. */
import { spawn } from "node:child_process";

const [file = "", ...args] = process.argv.slice(2);
const agent = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(process.stdout);
