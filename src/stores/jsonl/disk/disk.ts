import { isLogError, LogError, type ErrorCode } from "#log/errors";

/** What tells two files under one name apart, also when the file system uses an inode number again. */
export type FileIdentity = string;

export interface FileStat {
  readonly identity: FileIdentity;
  readonly size: number;
  readonly modifiedMs: number;
}

/** An open file. It stays the same file when its name is moved or removed. */
export interface DiskFile extends AsyncDisposable {
  stat(): Promise<FileStat>;
  /** The bytes from a position on; fewer than asked only at the end of the file. */
  read(offset: number, length: number): Promise<Uint8Array>;
  write(bytes: Uint8Array, offset: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Everything written to the file, by whichever handle, is on the disk when it resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskLock {
  release(): void;
}

/**
 * What the store asks of a disk: narrow on purpose, so that tests can bring one that lies. Failures are the
 * system's own errors, known by their `code`. Files are made for their owner alone.
 */
export interface Disk {
  /** Null when there is no such file or folder. */
  stat(path: string): Promise<FileStat | null>;
  /** `create` refuses a name that is taken; the others refuse one that is not. */
  open(path: string, mode: "read" | "write" | "create"): Promise<DiskFile>;
  /** Gives a file a second name; false when that name is taken. Never replaces. */
  link(from: string, to: string): Promise<boolean>;
  /** Gives a file another name and replaces what had it. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; no error when there is none. */
  remove(path: string): Promise<void>;
  removeFolder(path: string): Promise<void>;
  /** The names in a folder; none when there is no such folder. */
  list(path: string): Promise<readonly string[]>;
  makeFolder(path: string): Promise<void>;
  /** Names made, moved and removed in the folder are on the disk when it resolves. */
  syncFolder(path: string): Promise<void>;
  /**
   * Tells the names of files in a folder that change, until it is disposed; null when it cannot tell any more. It may miss
   * some, and never keeps the process alive. Null, or no such verb, where the system cannot tell at all.
   */
  watch?(folder: string, tell: (name: string | null) => void): Disposable | null;
  /** A lock that the system lets go of when the process ends, however it ends; null while someone else has it. */
  lock(path: string): Promise<DiskLock | null>;
}

const MEANINGS: { readonly [code: string]: readonly [ErrorCode, string] } = {
  ENOSPC: ["disk_full", "The disk is full"],
  EDQUOT: ["disk_full", "The disk quota is exceeded"],
  EFBIG: ["disk_full", "The file reached the size limit of the file system"],
  EROFS: ["read_only", "The disk is read-only"],
  EACCES: ["read_only", "The system denies access to the folder or file"],
  EPERM: ["read_only", "The system denies access to the folder or file"],
  ENOENT: ["store_gone", "The file or folder does not exist"],
  ENOTDIR: ["store_gone", "The folder does not exist"],
  EISDIR: ["damaged", "A folder is in the place of a file"],
  EMFILE: ["busy", "This process has too many open files"],
  ENFILE: ["busy", "This machine has too many open files"],
  ESTALE: ["store_gone", "The file no longer exists"],
};

/** A system error as an error with our code; others pass through. */
function meaningOf(error: unknown, doing: string): unknown {
  if (isLogError(error) || !(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    return error;
  const [code, message] = MEANINGS[error.code] ?? ["store_failed", `The file system reported ${error.code}`];
  return new LogError(code, `${message} (while ${doing})`, { cause: error.code }, { cause: error });
}

/** Runs a piece of disk work, turning its system errors into what they mean. */
export async function onDisk<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw meaningOf(error, doing);
  }
}
