// The entries of the contracts log folded into a map: what stands, by kind, tenant and name; and kill switches by what they stop.
import { InvariantViolation } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import type { ContractEntries } from '../view.js';
import { reviewEntry } from './shapes.js';
import type { EntryBody } from './shapes.js';
import type { Verdict } from './verdicts.js';

type Doc = Readonly<Record<string, unknown>>;

/** Who acts with what. */
export interface Acting { readonly tenant: string; readonly agent: string; readonly capability: string }

/** View of the entries in the contracts log, as a service core declares it. */
export const entryView = {
  name: 'entries',
  topic: 'recourse.contracts',
  fold: (record: { readonly type: string; readonly body: Doc }, get: (key: string) => Doc | undefined): readonly (readonly [string, Doc | null])[] => {
    if (record.type !== 'EntryRegistered' && record.type !== 'EntryRetired') return [];
    const { kind, tenant, name, body, version } = record.body;
    const address = `entry/${String(kind)}/${String(tenant)}/${String(name)}`;
    const standing = get(address);
    const next = record.type === 'EntryRegistered' ? { body, version } : null;
    return [[address, next], ...switches({ kind, tenant, name }, standing, next, get)];
  },
} as const;

/** Finds what stands under a name: the tenant's own, else that for all. */
export function entryOf<Kind extends EntryKind>(view: ContractEntries, kind: Kind, tenant: string, name: string): EntryBody<Kind> | undefined {
  for (const owner of [tenant, '*']) {
    const found = view.get(`entry/${kind}/${owner}/${name}`);
    if (found !== undefined) return bodyOf(kind, String(found['body']), owner);
  }
  return undefined;
}

/** Says whether a kill switch stops this: over the tenant, over all, over the agent or over the capability. */
export function killVerdict(view: ContractEntries, { tenant, agent, capability }: Acting): Verdict {
  for (const owner of [tenant, '*']) {
    for (const scope of ['tenant', `agent/${agent}`, `capability/${capability}`]) {
      const [name] = namesIn(view.get(`kill/${owner}/${scope}`));
      if (name !== undefined) return { admitted: false, code: 'KILLED', reason: `the kill switch ${name} stops ${scope} of ${owner === '*' ? 'all tenants' : owner}` };
    }
  }
  return { admitted: true };
}

/** Several switches may stop the same; each is lifted by itself. */
function switches({ kind, tenant, name }: Doc, before: Doc | undefined, after: Doc | null, get: (key: string) => Doc | undefined): readonly (readonly [string, Doc | null])[] {
  if (kind !== 'kill_switch') return [];
  const [from, to] = [before, after].map((doc) => doc === undefined || doc === null ? null : `kill/${String(tenant)}/${scopeOf(bodyOf('kill_switch', String(doc['body']), String(tenant)))}`);
  const without = from === null || from === undefined ? [] : namesIn(get(from)).filter((each) => each !== name);
  const dropped = from === null || from === undefined || from === to ? [] : [[from, without.length === 0 ? null : { names: without }] as const];
  if (to === null || to === undefined) return dropped;
  return [...dropped, [to, { names: [...new Set([...namesIn(get(to)), String(name)])].sort() }]];
}

function scopeOf({ scope }: EntryBody<'kill_switch'>): string {
  switch (scope.over) {
    case 'tenant': return 'tenant';
    case 'agent': return `agent/${scope.agent}`;
    case 'capability': return `capability/${scope.capability}`;
  }
}

function namesIn(doc: Doc | undefined): readonly string[] {
  // Entries of this key are written by the fold alone.
  return (doc?.['names'] as readonly string[] | undefined) ?? [];
}

function bodyOf<Kind extends EntryKind>(kind: Kind, body: string, tenant: string): EntryBody<Kind> {
  const review = reviewEntry(kind, body, tenant);
  if (!review.ok) throw new InvariantViolation('registered entries parse', `${kind}: ${review.problems.map(({ code }) => code).join(', ')}`);
  return review.entry;
}
