import { join } from "node:path";
import type { ConversationId } from "#log/ids";
import type { Disk } from "./disk/disk.ts";
import { blobsName, logName } from "./names.ts";

/** Where one conversation lives, and what its shelf needs of the store around it. */
export interface Home {
  readonly disk: Disk;
  /** The folder of its space. */
  readonly folder: string;
  readonly conversation: ConversationId;
  /** Whether this store keeps other writers away at the moment. */
  holdsLock(): boolean;
  /** Tells those who wait that something was written. */
  wake(): void;
}

export function logPath(home: Pick<Home, "folder" | "conversation">): string {
  return join(home.folder, logName(home.conversation));
}

export function blobsPath(home: Pick<Home, "folder" | "conversation">): string {
  return join(home.folder, blobsName(home.conversation));
}
