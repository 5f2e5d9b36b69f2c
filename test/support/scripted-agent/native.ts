/** What an agent keeps in the home folder, beside its own files here: hosts read it, and so its form matters. */
import type { Like } from "./flavours.ts";
import { rolloutPath, writeRollout } from "./rollouts.ts";
import type { SessionFile } from "./session-files.ts";
import { readTranscript, transcriptPath, writeTranscript } from "./transcripts.ts";

export interface Native {
  path(id: string): string | null;
  write(session: SessionFile): void;
  /** What it takes up that it did not write itself; null where it does not. */
  read(id: string): SessionFile | null;
}

export function nativeOf(like: Like, home: string): Native | null {
  if (like === "claude")
    return {
      path: (id) => transcriptPath(home, id),
      write: (session) => writeTranscript(home, session),
      read: (id) => readTranscript(home, id),
    };
  if (like === "codex")
    return {
      path: (id) => rolloutPath(home, id),
      write: (session) => writeRollout(home, session),
      read: () => null,
    };
  return null;
}
