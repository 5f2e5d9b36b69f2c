import { nameOfProcess } from "#turn/running-process";

/** Names this bridge for people, and so that another can tell whether it still runs. */
export function processName(): Promise<string> {
  return nameOfProcess("holdfast acp");
}
