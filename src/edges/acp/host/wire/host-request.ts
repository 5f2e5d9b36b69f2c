import type { Json } from "#log/json/json-text";
import { type Message, readableAt, spanAt, stringAt, textAt } from "#edges/acp/wire/spans";
import { BadRequest } from "./rpc-error.ts";

/** A request of the host: its parts as they are needed, and the bytes they came in. */
export class HostRequest {
  readonly message: Message;
  /** The JSON text of its id; null for a notification. */
  readonly id: string | null;
  readonly method: string;
  /** The host does not want it any more. */
  isWithdrawn: boolean = false;
  /** Called when it is withdrawn while someone works on it. */
  onWithdrawn: (() => void) | null = null;

  constructor(message: Message) {
    this.message = message;
    this.id = message.id === null ? null : textAt(message.bytes, message.id);
    this.method = message.method ?? "";
  }

  get paramsText(): string {
    const { bytes, params } = this.message;
    return params === null ? "{}" : textAt(bytes, params);
  }

  value(...path: readonly string[]): Json | undefined {
    const { bytes, params } = this.message;
    const span = params === null ? null : spanAt(bytes, params, path);
    if (span === null) return undefined;
    const value = readableAt(bytes, span);
    if (value === null && textAt(bytes, span) !== "null")
      throw new BadRequest(`The params of ${this.method} cannot be read`);
    return value;
  }

  text(...path: readonly string[]): string | null {
    const { bytes, params } = this.message;
    return params === null ? null : stringAt(bytes, spanAt(bytes, params, path));
  }

  /** The conversation it is about. */
  get session(): string {
    const id = this.text("sessionId");
    if (id === null) throw new BadRequest(`${this.method} needs a sessionId`);
    return id;
  }
}
