/** A part of a text that looks like a password, a key or a token. */
export interface Secret {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

const NAMED =
  "passw(?:or)?d|passwort|passphrase|contraseña|mot de passe|密码|口令|パスワード|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|client[ _-]?secret|auth[ _-]?token";

/** By how a service writes its keys, and by what is said in front of one. */
const PATTERNS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["private key", /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/g],
  ["access key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ["access token", /\b(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{16,})/g],
  ["access token", /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g],
  ["access token", /\b(?:npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|pypi-[\w-]{30,})/g],
  ["API key", /\bAIza[\w-]{35}/g],
  ["API key", /\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}/g],
  ["API key", /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
  ["web token", /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g],
  ["bearer token", /\bbearer\s+[\w.~+/-]{20,}=*/gi],
  ["password in a URL", /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/gi],
  // A word alone ("password: required") is no password; what has letters with digits or signs may be one.
  [
    "password",
    new RegExp(
      `(?:${NAMED})\\s*(?:is|ist|是|为|は|[:=：＝])+\\s*["'\`]?(?=\\S*[0-9!#$%^&*])(?=\\S*\\p{L})\\S{8,}`,
      "giu",
    ),
  ],
];

/** What in a text looks like a secret, in the order in which it stands there. */
export function secretsIn(text: string): readonly Secret[] {
  const found = PATTERNS.flatMap(([kind, pattern]) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => ({
      kind,
      from: index,
      to: index + match.length,
    })),
  );
  return found.toSorted((one, other) => one.from - other.from);
}
