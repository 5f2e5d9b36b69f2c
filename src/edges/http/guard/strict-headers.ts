/** On every answer: what came from a log is never a page, and no page of others may look in. */
const STRICT_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

/** The same answer with them; what it says itself counts. */
export function withStrictHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(STRICT_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}
