import { isLogError, LogError } from "#log/errors";

/** What is wrong with a row is told with where it is. */
export function located<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isLogError(error)) throw error;
    throw new LogError(
      "invalid_entry",
      `${place}: ${error.message}`,
      { ...error.details, place },
      { cause: error },
    );
  }
}
