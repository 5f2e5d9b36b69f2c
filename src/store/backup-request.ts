import { LogError } from "#log/errors";

export function backupTaken(to: string): LogError {
  return new LogError("invalid_request", `${to} exists already; a backup replaces nothing`, { to });
}

/** The folder is not made: it may belong on a disk that is not mounted at the moment. */
export function noBackupFolder(folder: string): LogError {
  return new LogError("invalid_request", `There is no folder ${folder} for the backup`, { folder });
}
