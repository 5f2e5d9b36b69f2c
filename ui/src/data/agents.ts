import { effect, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Api } from "#edges/http/client/index";
import { client, connection } from "./api-client.ts";

type Agents = Api["listAgents"]["response"]["agents"];

const agents: Signal<Agents | null> = signal(null);
let isAsked = false;

/** A server that comes back may have others. */
effect(() => {
  if (connection.value !== "live") isAsked = false;
});

async function ask(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  const found = await client.listAgents().catch(() => null);
  if (found === null) isAsked = false;
  else agents.value = found.agents;
}

/** The agents of the server, asked for once; null: not known yet. */
export function useAgents(): Agents | null {
  const isLive = connection.value === "live";
  useEffect(() => void (isLive && ask()), [isLive]);
  return agents.value;
}
