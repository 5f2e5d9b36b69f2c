import { type Signal, signal } from "@preact/signals";
import type { ClientOf } from "#edges/http/client/client";
import { ApiError, type Client, createClient } from "#edges/http/client/index";
import type { FaultApi } from "#edges/http/faults/fault-api";
import { createFaultClient } from "./fault-client.ts";

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

/** The operations that a simulated agent adds. */
export const faults: ClientOf<FaultApi> = createFaultClient({
  fetch: noticed,
  retries: 2,
});

/** The same for what nobody asks for again by hand: it asks until somebody answers, or it is stopped. */
export const patientClient: Client = createClient({ fetch: noticed, retries: Number.POSITIVE_INFINITY });

const PASSING: ReadonlySet<number> = new Set([401, 423, 429, 502, 503, 504]);

/** Whether the same may well be answered later: nobody answered, or whoever did cannot for now, or does not know this browser. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError ? PASSING.has(error.status) : error instanceof TypeError;
}

/** How long what was not answered waits before it is asked for again. */
export const AGAIN_MS = 1_500;
