import fc from "fast-check";
import { expect, test } from "vitest";
import { newSecret } from "#edges/http/access/grant";
import { secretsIn } from "#log/secrets";
import { mapStrings, redactPayload, redactText } from "#transfer/redact-text";
import { HANG_MS } from "../support/hang.ts";

// None of them is one: they only have the shape.
const SECRETS: readonly (readonly [kind: string, secret: string, around: (secret: string) => string])[] = [
  ["access key", "AKIAIOSFODNN7EXAMPLE", (secret) => `id ${secret}.`],
  ["access token", `ghp_${"a1".repeat(18)}`, (secret) => `git clone https://x/${secret}`],
  ["access token", `github_pat_${"a1_".repeat(12)}`, (secret) => secret],
  ["access token", "xoxb-123456789012-abcdef", (secret) => `slack=${secret}`],
  ["API key", `sk-ant-api03-${"x1-".repeat(12)}a`, (secret) => `"${secret}"`],
  ["API key", `AIza${"b".repeat(35)}`, (secret) => `?key=${secret}&x=1`],
  ["API key", `sk_live_${"c1".repeat(10)}`, (secret) => secret],
  ["web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", (secret) => `(${secret})`],
  ["bearer token", "abcdefghijklmnopqrstuvwxyz", (secret) => `curl -H "Authorization: Bearer ${secret}"`],
  ["password", "dXNlcjpodW50ZXIy", (secret) => `authorization: Basic ${secret}`],
  ["password in a URL", "hunter2", (secret) => `postgres://app:${secret}@localhost/db`],
  ["password", "hunter2hunter2", (secret) => `password = ${secret}`],
  ["password", "hunter2hunter2", (secret) => `{"user":"x","password":"${secret}","port":1}`],
  ["password", "hunter2hunter2", (secret) => `{\\"api_key\\": \\"${secret}\\"}`],
  [
    "password",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX",
    (secret) => `aws_secret_access_key = ${secret}\nregion = x`,
  ],
  ["secret variable", "correcthorsebattery", (secret) => `export DEPLOY_TOKEN='${secret}' && make`],
  ["webhook URL", "T00000000/B00000000/abcdefghij", (secret) => `https://hooks.slack.com/services/${secret}`],
  [
    "private key",
    `-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAB3Nz\n-----END OPENSSH PRIVATE KEY-----`,
    (secret) => `cat id\n${secret}\n$`,
  ],
  [
    "private key",
    `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcdef0123`,
    (secret) => `cut off: ${secret}`,
  ],
];

test.each(SECRETS)("a %s is taken out, and only that", (kind, secret, around) => {
  const text = around(secret);
  const { text: redacted, hits } = redactText(text);
  expect(redacted).toBe(around(`[redacted: ${kind}]`));
  expect(hits).toMatchObject([{ kind }]);
  const [shown = ""] = hits[0]?.preview.split("…") ?? [];
  expect(secret.startsWith(shown)).toBe(true);
  expect(shown.length).toBeLessThanOrEqual(Math.min(4, secret.length / 8));
  expect(redactText(redacted)).toEqual({ text: redacted, hits: [] });
});

test("every token and launch code of our own server is taken out whole", () => {
  for (const kind of ["hf", "hfc"] as const)
    for (let count = 0; count < 200; count++)
      expect(redactText(`token ${newSecret(kind)}.`).text).toBe("token [redacted: access token].");
});

test("a text full of secrets is taken out as one, with one report", () => {
  const { text, hits } = redactText("a@a.a@".repeat(170_000), { emails: true });
  expect(text.length).toBeLessThan(100);
  expect(hits).toHaveLength(1);
});

test("a colour or nothing that is seen in the middle of a key does not keep it", () => {
  const key = `sk-ant-${"x1".repeat(15)}`;
  for (const hidden of ["\u001B[31m", "\u200B", "\u00AD", "\u001B]8;;http://x\u0007", "\uFEFF", "\u0000"])
    for (const at of [1, 3, 10, key.length - 1]) {
      const parted = key.slice(0, at) + hidden + key.slice(at);
      const { text, hits } = redactText(`${hidden}a ${parted}${hidden} b`);
      expect([JSON.stringify(hidden), at, text]).toEqual([
        JSON.stringify(hidden),
        at,
        `${hidden}a [redacted: API key]${hidden} b`,
      ]);
      expect(hits).toHaveLength(1);
    }
});

test("addresses of people are taken out where that is asked for", () => {
  const text = "write to Ann <ann.b+c@mail.example.org>, not to a@b";
  expect(redactText(text).text).toBe(text);
  expect(redactText(text, { emails: true }).text).toBe(
    "write to Ann <[redacted: email address]>, not to a@b",
  );
});

test("text that is made to be slow is looked through in no time", () => {
  const began = performance.now();
  for (const part of ["a.", "eyJ-", "token=", "bearer ", "a://b:", "-----BEGIN PRIVATE KEY-----", "\u001B["])
    secretsIn(part.repeat(40_000));
  // Quadratic, each of these would take minutes.
  expect(performance.now() - began).toBeLessThan(HANG_MS);
});

test("every string of an entry is gone through, and everything else stays as it was written", () => {
  const key = `sk-ant-${"x1".repeat(15)}`;
  const payload = `{"message":{"role":"assistant","content":[{"type":"text","text":"use ${key}"},{"type":"thinking","thinking":"${key}"},{"type":"toolCall","id":"c","name":"n","input":{"n":1e400,"Password":"open sesame","list":["\\u0041 ${key}"],"${key}":1.50}}],"details":{"big":12345678901234567890}}}`;
  const { payload: redacted, hits } = redactPayload("chat", { id: "e1", seq: 7, type: "message", payload });
  expect(redacted).not.toContain(key);
  expect(redacted).toBe(
    `{"message":{"role":"assistant","content":[{"type":"text","text":"use [redacted: API key]"},{"type":"thinking","thinking":"[redacted: API key]"},{"type":"toolCall","id":"c","name":"n","input":{"n":1e400,"Password":"[redacted: secret member]","list":["A [redacted: API key]"],"[redacted: API key]":1.50}}],"details":{"big":12345678901234567890}}}`,
  );
  expect(hits.map(({ where }) => where)).toEqual([
    "message.content[0].text",
    "message.content[1].thinking",
    "message.content[2].input.Password",
    "message.content[2].input.list[0]",
    "message.content[2].input.list",
  ]);
  expect(JSON.stringify(hits)).not.toContain(key.slice(0, 8));
  expect(hits[0]).toMatchObject({ conversation: "chat", entry: "e1", seq: 7, type: "message" });
});

test("words that streamed by are left out: half a key looks like none", () => {
  const update = {
    id: "u",
    seq: 1,
    type: "update",
    payload: '{"turn":"t","data":{"text":"sk-ant-x1x"}}',
  } as const;
  expect(redactPayload("chat", update).payload).toBe('{"turn":"t"}');
  const progress = {
    id: "p",
    seq: 2,
    type: "tool_progress",
    payload: '{"call":"c","text":"x","data":1}',
  } as const;
  expect(redactPayload("chat", progress).payload).toBe('{"call":"c"}');
});

test("property: strings are found where JSON has them, and left alone the text is the same", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value, null, 1);
      const seen: string[] = [];
      expect(mapStrings(json, (text) => (seen.push(text), text))).toBe(json);
      const wanted: string[] = [];
      JSON.parse(json, (_, part: unknown) => {
        if (typeof part === "string") wanted.push(part);
        if (typeof part === "object" && part !== null && !Array.isArray(part))
          wanted.push(...Object.keys(part));
        return part;
      });
      expect(seen.toSorted()).toEqual(wanted.toSorted());
      const upper = mapStrings(json, (text) => `<${text}>`);
      const mapped = (part: unknown): unknown => {
        if (typeof part === "string") return `<${part}>`;
        if (Array.isArray(part)) return part.map(mapped);
        if (typeof part !== "object" || part === null) return part;
        return Object.fromEntries(Object.entries(part).map(([name, one]) => [`<${name}>`, mapped(one)]));
      };
      expect(JSON.parse(upper)).toEqual(mapped(JSON.parse(json)));
    }),
    { numRuns: 300 },
  );
});
