/** What passes between the demo, which plays the world and the agent, and the host, a process that can be killed. */
import type { HostEvent } from "#turn/host";
import type { SendResult } from "#sending/turn";
import type { PromptEvent, PromptRequest, SessionSettings, ShownMessage } from "#sending/upstream";
import type { Ending } from "#sending/rules/ending";

export const AGENT = "sim";

/** A session as it looks from the other side; the handle stays the same when the id changes. */
export interface SessionView {
  readonly handle: number;
  readonly id: string;
  readonly shown: readonly ShownMessage[] | null;
}

export type Ask =
  | { readonly verb: "open"; readonly settings: SessionSettings }
  | { readonly verb: "resume" | "fork"; readonly session: string; readonly settings: SessionSettings }
  | { readonly verb: "restart"; readonly process: string | null }
  | { readonly verb: "prompt"; readonly handle: number; readonly request: PromptRequest }
  | { readonly verb: "cancel" | "close"; readonly handle: number };

/** From the demo to the host. Everything says what time it is in the agent's world, and which process is its. */
export type ToHost = { readonly nowMs: number; readonly process: string | null } & (
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "answer"; readonly ask: number; readonly session: SessionView | null }
  | {
      readonly kind: "failure";
      readonly ask: number;
      readonly ending: Ending;
      readonly failedProcess: string | null;
    }
  | { readonly kind: "event"; readonly ask: number; readonly event: PromptEvent }
);

/** From the host to the demo. */
export type FromHost =
  | { readonly kind: "ready" }
  | { readonly kind: "ask"; readonly ask: number; readonly what: Ask }
  | { readonly kind: "told"; readonly event: HostEvent }
  /** The intent to use a tool is on disk. */
  | { readonly kind: "intent" }
  | { readonly kind: "turn"; readonly result: SendResult }
  | { readonly kind: "broken"; readonly message: string };
