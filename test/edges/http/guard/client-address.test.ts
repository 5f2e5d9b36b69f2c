import { expect, test } from "vitest";
import { siteOf, TrustedProxies } from "#edges/http/guard/client-address";

test("addresses that one client can choose among are one site", () => {
  expect(siteOf("203.0.113.7")).toBe("203.0.113.7");
  for (const address of ["2001:db8:1:2::1", "2001:db8:1:2:ffff::192.0.2.1", "2001:db8:1:2:0:0:0:9%eth0"])
    expect(siteOf(address)).toBe("2001:0db8:0001:0002::/64");
  expect(siteOf("::1")).toBe("0000:0000:0000:0000::/64");
});

test("a network has the addresses of its prefix, in whatever form they are written", () => {
  const seen = (network: string, address: string): boolean => {
    const headers = new Headers({ "x-forwarded-for": "198.51.100.1" });
    return new TrustedProxies([network]).clientOf({ address }, headers) === "198.51.100.1";
  };
  for (const [network, inside, outside] of [
    ["10.0.0.0/8", "10.255.0.1", "11.0.0.1"],
    ["10.1.2.3", "::ffff:10.1.2.3", "10.1.2.4"],
    ["0.0.0.0/0", "192.0.2.1", "::1"],
    ["2001:db8::/32", "2001:0DB8:ffff::1", "2001:db9::1"],
    ["::1", "0:0:0:0:0:0:0:1", "::2"],
    ["::/0", "192.0.2.1", ""],
  ] as const) {
    expect([network, seen(network, inside)]).toEqual([network, true]);
    expect([network, seen(network, outside)]).toEqual([network, false]);
  }
  expect(new TrustedProxies(["::1"]).clientOf({}, new Headers())).toBeNull();
});
