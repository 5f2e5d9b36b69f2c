import { join } from "node:path";
import type { ConversationId } from "#log/ids";
import type { Disk } from "./disk/disk.ts";
import { blobsName, logName } from "./file-names.ts";

/** Where one conversation lives, and what its log needs of the store around it. */
export interface LogLocation {
  readonly disk: Disk;
  /** The folder of its space. */
  readonly folder: string;
  readonly conversation: ConversationId;
  /** Whether this store keeps other writers away at the moment. */
  holdsLock(): boolean;
  /** Tells those who wait that something was written. */
  wake(): void;
}

export function logPath(location: Pick<LogLocation, "folder" | "conversation">): string {
  return join(location.folder, logName(location.conversation));
}

export function blobsPath(location: Pick<LogLocation, "folder" | "conversation">): string {
  return join(location.folder, blobsName(location.conversation));
}
