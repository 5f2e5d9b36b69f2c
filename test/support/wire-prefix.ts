/** Cache marks move from request to request and are no words: they are taken out before bytes are compared. */
const MARK = ',"cache_control":{"type":"ephemeral"}';

export function unmark(body: string): string {
  return body.replaceAll(MARK, "");
}

/**
 * The bytes up to the newest message, which is where the last mark stands: what a reminder and everything behind it added is
 * cut, and so are marks.
 */
export function upToReminder(body: string): string {
  const at = body.lastIndexOf("<system-reminder>");
  return unmark(body.slice(0, at))
    .replace(/(?:\{"role":"user","(?:content|parts)":\[)?\{[^{]*$/, "")
    .replace(/,$/, "");
}
