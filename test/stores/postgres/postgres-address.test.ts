import { expect, test } from "vitest";
import { parsePostgresAddress } from "#stores/postgres/postgres-address";

const at = (settings: string): string => `postgres://me:pass%40word@db.example:5433/app${settings}`;

test("takes its own settings out of an address and leaves the driver's in it", () => {
  const address = parsePostgresAddress(
    at("?schema=s1&sslmode=require&partitions=4&functions=off&row_security=on&listen=on&query_ms=2500"),
  );
  expect(address).toEqual({
    url: at("?sslmode=require"),
    schema: "s1",
    partitions: 4,
    functions: false,
    rowSecurity: true,
    listen: true,
    queryMs: 2500,
    place: "postgres://db.example:5433/app (schema s1)",
  });
});

test("has a schema of its own, functions and nothing else unless told", () => {
  const plain = {
    schema: "holdfast",
    partitions: 0,
    functions: true,
    rowSecurity: false,
    listen: false,
    queryMs: null,
  };
  expect(parsePostgresAddress(at(""))).toMatchObject(plain);
  expect(parsePostgresAddress(at("?row_security=off&listen=off"))).toMatchObject(plain);
});

test.each([
  "row_security=yes",
  "listen=1",
  "schema=No",
  "partitions=-1",
  "partitions=many",
  "query_ms=0",
  "query_ms=1s",
])("refuses %s, and says no password", (setting) => {
  const refused = expect.objectContaining({
    code: "invalid_request",
    message: expect.not.stringMatching(/pass/),
  });
  expect(() => parsePostgresAddress(at(`?${setting}`))).toThrow(refused);
});
