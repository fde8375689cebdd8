// Names of different people that read alike: `olga` and `0lga`, `anna.maria` and `annamaria`, `corn` and `com`.
//
// Boundary: for marking what people read; who is whom, subjects say (person.ts).
import { personKey } from './person.js';

/** What is read as something else, longest first. */
const READ_AS: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/cl/g, 'd'],
  [/0/g, 'o'],
  [/[1i|]/g, 'l'],
  [/5/g, 's'],
  [/8/g, 'b'],
  [/2/g, 'z'],
  [/[._~+:/#=-]/g, ''],
];

/** Groups of names that belong to different people and read alike, each in order; null names nobody. */
export function lookAlikes(names: readonly (string | null)[]): readonly (readonly string[])[] {
  const groups = new Map<string, Map<string, string>>();
  for (const name of names) {
    if (name === null) continue;
    const key = personKey(name);
    const read = READ_AS.reduce((text, [from, to]) => text.replaceAll(from, to), key);
    groups.set(read, new Map([[key, name], ...(groups.get(read) ?? [])]));
  }
  return [...groups.values()].filter(({ size }) => size > 1).map((group) => [...group.values()].sort());
}
