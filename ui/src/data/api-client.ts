import { type Signal, signal } from "@preact/signals";
import { type Client, createClient } from "#edges/http/client/index";

/** Whether the server answers: it does, it does not for now, or it does not know this browser any more. */
export const connection: Signal<"live" | "lost" | "signed_out"> = signal("live");

async function noticed(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    connection.value = response.status === 401 ? "signed_out" : "live";
    return response;
  } catch (error) {
    if (!request.signal.aborted) connection.value = "lost";
    throw error;
  }
}

/** All that the UI knows it knows by this. */
export const client: Client = createClient({ fetch: noticed, retries: 2 });
