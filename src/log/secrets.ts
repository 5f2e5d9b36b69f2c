/** A part of a text that looks like a password, a key or a token. */
export interface Secret {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

const NAMED =
  "passw(?:or)?d|passwort|passphrase|contraseña|mot de passe|密码|口令|パスワード|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|client[ _-]?secret|auth[ _-]?token";
const QUOTE = "\\\\{0,4}[\"'`]?"; // also in text that is quoted in text
const VALUE = "[^\\s\"'`,;&<>\\\\]"; // the characters of a value, which ends where a quote or a list continues
const SPAN = 4_096; // longer text is not a key; text that is scanned twice stays short

/**
 * By how a service writes its keys, and by what is said in front of one. Of a pattern with a group `secret` only that is one.
 * They are used on text of strangers: every repetition ends, or begins where no other can.
 */
const PATTERNS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  [
    "private key",
    /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----(?:[^-]{0,16384}-----END [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,-]{0,16384})/dg,
  ],
  ["access key", /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/dg],
  ["access token", /\b(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{16,})/dg],
  ["access token", /\b(?:xox[abceoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,})/dg],
  ["access token", /\b(?:npm_[A-Za-z0-9]{30,}|hfc?_[\w-]{30,}|pypi-[\w-]{30,}|dop_v1_[a-f0-9]{40,})/dg],
  [
    "access token",
    /\b(?:ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32})/dg,
  ],
  ["API key", /\bAIza[\w-]{35}/dg],
  ["API key", /\bsk-[A-Za-z0-9_-]{20,}/dg],
  ["API key", /\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,})/dg],
  ["API key", /\b(?:xai-|gsk_|pplx-|r8_|lin_api_|ntn_|tvly-|fw_)[A-Za-z0-9]{24,}/dg],
  ["API key", /\bSG\.[\w-]{16,64}\.[\w-]{16,}/dg],
  ["bot token", /\b\d{8,10}:AA[\w-]{33}\b/dg],
  [
    "webhook URL",
    /\bhttps:\/\/(?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks)\/(?<secret>[\w/-]{20,})/dg,
  ],
  ["web token", /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/dg],
  ["bearer token", /\bbearer\s{1,8}(?<secret>[\w.~+/-]{20,}=*)/dgi],
  [
    "password",
    /\bauthorization["']?\s{0,8}[:=]\s{0,8}["']?basic\s{1,8}(?<secret>[A-Za-z0-9+/]{8,}={0,2})/dgi,
  ],
  ["password in a URL", /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]{0,256}:(?<secret>[^\s/@]{1,512})@/dgi],
  ["account key", /\b(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{20,}={0,2})/dg],
  // A word alone ("password: required") is not a password; letters with digits or signs may be one.
  [
    "password",
    new RegExp(
      `(?:${NAMED})${QUOTE}\\s{0,8}(?:is|ist|是|为|は|[:=：＝]){1,4}\\s{0,8}${QUOTE}(?=${VALUE}{0,256}[0-9!#$%^*])(?=${VALUE}{0,256}\\p{L})(?<secret>${VALUE}{8,${SPAN}})`,
      "dgiu",
    ),
  ],
  // As in a file of variables: a value under such a name is a secret, whatever it looks like. A reference to another is not.
  [
    "secret variable",
    new RegExp(
      `\\b[A-Z0-9_]{0,64}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)=${QUOTE}(?![$<[{*(])(?<secret>${VALUE}{8,${SPAN}})`,
      "dg",
    ),
  ],
];

/** What in a text looks like a secret, in the order in which it stands there, also where a colour or nothing seen parts it. */
export function secretsIn(text: string): readonly Secret[] {
  const seen = visibleTextOf(text);
  const secrets = PATTERNS.flatMap(([kind, pattern]) => {
    // An entry may have a million short texts; a search costs a fifth of an iterator.
    if (seen.text.search(pattern) === -1) return [];
    return Array.from(seen.text.matchAll(pattern), (match) => {
      const [from, to] = match.indices?.groups?.["secret"] ?? match.indices?.[0] ?? [0, 0];
      return {
        kind,
        from: seen.originalIndex(from),
        to: to === from ? seen.originalIndex(to) : seen.originalIndex(to - 1) + 1,
      };
    });
  });
  return secrets.toSorted((one, other) => one.from - other.from || other.to - one.to);
}

const SECRET_NAME = new RegExp(`(?:${NAMED}|credentials?|authorization|cookie)$`, "iu");

/** Whether what a member of an object is called says that its value is secret. */
export function isSecretName(name: string): boolean {
  return name.length <= 256 && SECRET_NAME.test(name.trim());
}

// What a terminal obeys and what nobody sees: a key that is coloured in the middle is still a key.
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- escapes of terminals are what is looked for
  /\u001B(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001B]{0,4096}(?:\u0007|\u001B\\)|[@-Z\\^_])|[\u0000-\u0008\u000E-\u001A\u001C-\u001F\u007F]|\p{Default_Ignorable_Code_Point}/gu;

/** A text as it is seen, and where each of its characters stands in the text that was original. */
export interface VisibleText {
  readonly text: string;
  /** The place in the original text of the character that is seen at this one. */
  originalIndex(index: number): number;
}

/** The text without its invisible parts. */
export function visibleTextOf(input: string): VisibleText {
  if (input.search(HIDDEN) === -1) return { text: input, originalIndex: (index) => index };
  let text = "";
  let from = 0;
  const pieces: { readonly seen: number; readonly original: number }[] = [];
  for (const { 0: match, index } of input.matchAll(HIDDEN)) {
    if (index > from) pieces.push({ seen: text.length, original: from });
    text += input.slice(from, index);
    from = index + match.length;
  }
  pieces.push({ seen: text.length, original: from });
  text += input.slice(from);
  return { text, originalIndex: (index) => placeIn(pieces, index) };
}

function placeIn(
  pieces: readonly { readonly seen: number; readonly original: number }[],
  index: number,
): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.seen ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  return piece === undefined ? index : piece.original + index - piece.seen;
}
