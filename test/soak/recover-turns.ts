import { ApiError, type Client } from "#edges/http/client/index";
import type { Clients } from "./clients.ts";
import { pause } from "./nemesis.ts";

const TRIES = 60;

/** Ends every turn that is open, as a client would; those that do not end are returned in words. */
export async function recoverTurns(clients: Clients): Promise<readonly string[]> {
  const client = clients.client({ retries: 100 });
  const stuck: string[] = [];
  for (const conversation of clients.live) {
    const problem = await recovered(client, conversation);
    if (problem !== null) stuck.push(`${conversation}: ${problem}`);
  }
  return stuck;
}

async function recovered(client: Client, conversation: string): Promise<string | null> {
  let last = "";
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const { openTurn } = await client.getConversation({ conversation });
      if (openTurn === null) return null;
      if (openTurn.left) await goOn(client, conversation);
      else await pause(200);
      last = openTurn.left ? "is left" : "runs on";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "conversation_not_found") return null;
      last = `${error.code} ${error.message}`;
      await pause(200);
    }
  }
  return `its turn does not end: ${last}`;
}

async function goOn(client: Client, conversation: string): Promise<void> {
  const turn = await client.continueTurn({ conversation }).catch(async (error: unknown) => {
    // Where nothing came back, or it cannot be known what was done, a new prompt settles it.
    if (error instanceof ApiError && error.code === "invalid_request")
      return client.send({ conversation, content: "remember s=settled" });
    throw error;
  });
  for await (const entry of client.turnEvents(turn)) void entry;
}
