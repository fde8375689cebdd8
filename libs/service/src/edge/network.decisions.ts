// Whose an address is: one of IPv4 is one holder's; of IPv6 a holder has a whole /64, and a new address for every request. Pure.
import { isIPv6 } from 'node:net';

const GROUPS = 8;
/** Groups of a /64. */
const NETWORK_GROUPS = 4;
/** What stands before an address of IPv4 that is written as one of IPv6. */
const MAPPED = '0:0:0:0:0:ffff';

/** What is counted in the place of an address: its /64, or itself where it is one of IPv4, however that is written. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') === MAPPED) return groups.slice(6).flatMap(octetsOf).join('.');
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The groups without leading zeros; without a zone, which is of this host alone. */
function groupsOf(address: string): readonly string[] {
  const { hostname } = new URL(`http://[${address.split('%')[0] ?? ''}]`); // the one way to write it
  const [before = '', after] = hostname.slice(1, -1).split('::');
  const [first, last] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(GROUPS - (first?.length ?? 0) - (last?.length ?? 0)).fill('0');
  return [...(first ?? []), ...zeros, ...(last ?? [])];
}

function octetsOf(group: string): readonly number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}
