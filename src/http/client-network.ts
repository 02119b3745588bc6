/** Returns an IPv4 address unchanged, and the /64 network of an IPv6 address, because one host may use a whole /64. */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1] as string;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
