import { isIP } from "node:net";
import { LogError } from "#log/errors";

/** What holds the connection of a request. */
export interface Peer {
  /** Of the socket. */
  readonly address?: string;
}

interface Network {
  readonly start: bigint;
  readonly hostBits: bigint;
}

const IPV4_START = 0xffff_0000_0000n; // where IPv6 has the addresses of IPv4
const IPV4_BITS = 32;
const BITS = 128;
const SITE_BITS = 64n; // whoever has one address of IPv6 has all that differ in these

/** Who asks: proxies that are trusted say it of those behind them, nobody else is believed. */
export class TrustedProxies {
  readonly #networks: readonly Network[];

  constructor(proxies: readonly string[]) {
    this.#networks = proxies.map(networkOf);
  }

  /** The address of a client; null where it is unknown. */
  clientOf({ address }: Peer, headers: Pick<Headers, "get">): string | null {
    let client = plain(address ?? "");
    const hops = this.#isTrusted(client) ? (headers.get("x-forwarded-for") ?? "").split(",") : [];
    while (this.#isTrusted(client)) {
      const before = plain(hops.pop()?.trim() ?? "");
      if (before === null) break;
      client = before;
    }
    return client;
  }

  #isTrusted(address: string | null): boolean {
    if (address === null || this.#networks.length === 0) return false;
    const number = numberOf(address);
    return this.#networks.some(({ start, hostBits }) => number >> hostBits === start >> hostBits);
  }
}

/** The part of an address that one client cannot choose: an address of IPv4, a network of IPv6. */
export function siteOf(address: string): string {
  const number = numberOf(address);
  if (number >> BigInt(IPV4_BITS) === IPV4_START >> BigInt(IPV4_BITS)) return address;
  const hex = (number >> SITE_BITS).toString(16).padStart(16, "0");
  return `${hex.replace(/(.{4})(?=.)/g, "$1:")}::/64`;
}

function networkOf(text: string): Network {
  const [address = "", prefix] = text.split("/");
  const bits = isIP(address) === 4 ? IPV4_BITS : BITS;
  const length = prefix === undefined ? bits : Number(prefix);
  if (isIP(address) === 0 || !/^\d+$/.test(prefix ?? "0") || length > bits)
    throw new LogError(
      "invalid_request",
      `A trusted proxy must be an IP address or a network such as 10.0.0.0/8 (got "${text}")`,
    );
  return { start: numberOf(address), hostBits: BigInt(bits - length) };
}

/** An address of IPv4 in its own form, also where a socket has it as one of IPv6; null: it is no address. */
function plain(text: string): string | null {
  if (isIP(text) === 0) return null;
  const [, ipv4 = text] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text) ?? [];
  return ipv4;
}

function numberOf(address: string): bigint {
  const [bare = ""] = address.split("%");
  if (isIP(bare) === 4) return IPV4_START + bytesOf(bare);
  const parts = bare.split("::").map((part) => (part === "" ? [] : part.split(":").flatMap(groupsOf)));
  const [start = [], end = []] = parts;
  const zeros = Array<string>(BITS / 16 - start.length - end.length).fill("0");
  return BigInt(`0x${[...start, ...zeros, ...end].map((group) => group.padStart(4, "0")).join("")}`);
}

/** The last part of an address may be written as one of IPv4: that is two groups. */
function groupsOf(part: string): readonly string[] {
  if (!part.includes(".")) return [part];
  const hex = bytesOf(part).toString(16).padStart(8, "0");
  return [hex.slice(0, 4), hex.slice(4)];
}

function bytesOf(ipv4: string): bigint {
  return ipv4.split(".").reduce((number, byte) => number * 256n + BigInt(byte), 0n);
}
