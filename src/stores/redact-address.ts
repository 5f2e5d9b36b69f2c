/** The address of a store as it may be shown: without user, password and settings, which may hold them too. */
export function redactAddress(address: string): string {
  const cut = /^([a-z]+:\/\/).*@/is.exec(address);
  const named = cut === null ? address : `${cut[1]}${address.slice(cut[0].length)}`;
  return /^[a-z]+:\/\//i.test(named) ? named.replace(/[?#].*/s, "") : named;
}
