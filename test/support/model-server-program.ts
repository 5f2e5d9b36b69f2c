/**
 * The scripted model server as a process: prints its port on a line and serves until it is ended. Its argument is a file of
 * answers (a JSON list); without one it answers orders as the simulated model does.
 */
import { readFileSync } from "node:fs";
import { answerOrders } from "./model-server/answer-orders.ts";
import type { ScriptedAnswer } from "./model-server/scripted-answer.ts";
import { startModelServer } from "./model-server.ts";

const file = process.argv[2];
const script =
  file === undefined ? answerOrders : (JSON.parse(readFileSync(file, "utf8")) as ScriptedAnswer[]);
const server = await startModelServer(script);
console.log(String(server.port));
