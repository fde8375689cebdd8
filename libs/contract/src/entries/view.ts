// The entries of the contracts log folded into a map: what stands, by kind, tenant and name; kill switches by what they stop, subscriptions by tenant, routine rules and autonomy policies by capability.
import { InvariantViolation, personKey } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import type { ContractEntries } from '../view.js';
import type { RoutineRule } from './routine.js';
import { autonomyKey } from './autonomy.js';
import { charterPlace, entryPlace, ownedPlace, placeOf } from './places.js';
import { reviewEntry } from './shapes.js';
import type { EntryBody } from './shapes.js';
import { tightened } from './joins.js';
import { chartersVerdict, joinedCharter } from './verdicts.js';
import type { JoinedCharter, StandingCharter, Verdict } from './verdicts.js';

type Doc = Readonly<Record<string, unknown>>;

/** View of the entries in the contracts log, as a service core declares it. */
export const entryView = {
  name: 'entries',
  topic: 'recourse.contracts',
  fold: (
    record: { readonly type: string; readonly body: Doc },
    get: (key: string) => Doc | undefined,
  ): readonly (readonly [string, Doc | null])[] => {
    if (record.type !== 'EntryRegistered' && record.type !== 'EntryRetired') return [];
    const { kind, tenant, name, body, version } = record.body;
    const address = entryPlace(kind as EntryKind, String(tenant), String(name)); // a record of entries has one
    const standing = get(address);
    const { registered_by = null, accounts = [] } = record.body;
    const next = record.type === 'EntryRegistered' ? { body, version, registered_by, accounts } : null;
    return [
      [address, next],
      ...places({ kind, tenant, name }, standing, next, get),
      ...(record.type === 'EntryRegistered' && kind === 'policy_bundle' ? [versionIn(record.body)] : []),
      ...(kind === 'context_source' ? [ownersIn(record.body, next !== null, get)] : []),
      ...(record.type === 'EntryRegistered' && kind === 'agent_charter' ? [everOwned(record.body, get)] : []),
    ];
  },
} as const;

/**
 * Whose a version of a bundle is, with the digests it was registered under, 64 hex digits: the tenant's own, then that for all.
 *
 * Shape: empty for a version nobody registered. Neither a later version nor retiring one takes it away.
 */
export function bundleVersions(
  view: ContractEntries,
  tenant: string,
  name: string,
  version: number,
): readonly { readonly owner: string; readonly digest: string }[] {
  return [tenant, '*'].flatMap((owner) => {
    const found = view.get(versionKey(owner, name, version));
    return found === undefined ? [] : [{ owner, digest: String(found['digest']) }];
  });
}

/** Tenants for which a context source of this name stands, `*` among them where it is for all. */
export function ownersOfSource(view: ContractEntries, name: string): readonly string[] {
  return namesIn(view.get(ownersKey(name)));
}

/** Who answers for what a source says in a tenant: the owner of the tenant's own and of the platform's, for neither puts the other out. */
export function answerableFor(view: ContractEntries, tenant: string, source: string): readonly string[] {
  return [...new Set([tenant, '*'])].flatMap((of) => entryIn(view, 'context_source', of, source)?.entry.owner ?? []);
}

/** A source is found by its name, whosever it is: one of others alone is not a stranger. */
function ownersIn(
  { tenant, name }: Doc,
  isStanding: boolean,
  get: (key: string) => Doc | undefined,
): readonly [string, Doc | null] {
  const others = namesIn(get(ownersKey(String(name)))).filter((each) => each !== tenant);
  const names = isStanding ? [...others, String(tenant)].sort() : others;
  return [ownersKey(String(name)), names.length === 0 ? null : { names }];
}

function ownersKey(name: string): string {
  return `source/${name}`;
}

function versionIn({ tenant, name, version, digest }: Doc): readonly [string, Doc] {
  // Avro fixed fields arrive as Buffers.
  return [versionKey(String(tenant), String(name), Number(version)), { digest: (digest as Buffer).toString('hex') }];
}

function versionKey(tenant: string, name: string, version: number): string {
  return placeOf('bundle', tenant, `${name}/${String(version)}`);
}

/** Finds what stands under a name: the tenant's own, else that for all. */
export function entryOf<Kind extends EntryKind>(
  view: ContractEntries,
  kind: Kind,
  tenant: string,
  name: string,
): EntryBody<Kind> | undefined {
  return standingEntry(view, kind, tenant, name)?.entry;
}

/** An entry that stands, with its version. */
export interface StandingEntry<Kind extends EntryKind> {
  readonly entry: EntryBody<Kind>;
  readonly version: number;
}

/** Finds what stands under a name, with its version: the tenant's own with what the platform's demands beside it, else the platform's. */
export function standingEntry<Kind extends EntryKind>(
  view: ContractEntries,
  kind: Kind,
  tenant: string,
  name: string,
): StandingEntry<Kind> | undefined {
  const platform = entryIn(view, kind, '*', name);
  const own = tenant === '*' ? undefined : entryIn(view, kind, tenant, name);
  return own === undefined ? platform : { ...own, entry: tightened(kind, own.entry, platform?.entry) };
}

function entryIn<Kind extends EntryKind>(
  view: ContractEntries,
  kind: Kind,
  owner: string,
  name: string,
): StandingEntry<Kind> | undefined {
  const found = view.get(entryPlace(kind, owner, name));
  return found === undefined
    ? undefined
    : { entry: bodyOf(kind, String(found['body']), owner), version: Number(found['version']) };
}

/** The charters of an agent as one, which says who answers for it: all owners, the tenant's own first. Undefined where there is none. */
export function charterFor(view: ContractEntries, tenant: string, agent: string): JoinedCharter | undefined {
  return joinedCharter(chartersOf(view, tenant, agent).map(({ entry }) => entry));
}

/** Everybody whom a charter of an agent names or ever named: whoever hands one over, or retires it, owned what was done before. */
export function ownersEver(view: ContractEntries, tenant: string, agent: string): readonly string[] {
  const owned = [tenant, '*'].flatMap((of) => namesIn(view.get(ownedPlace(of, agent))));
  return [...new Set(owned)];
}

function everOwned({ tenant, body }: Doc, get: (key: string) => Doc | undefined): readonly [string, Doc] {
  const { agent, owner } = bodyOf('agent_charter', String(body), String(tenant));
  const key = ownedPlace(String(tenant), agent);
  return [key, { names: [...new Set([...namesIn(get(key)), owner])].sort() }];
}

/** Says whether the charters of an agent allow an intent; without one everything is allowed. */
export function charterVerdict(view: ContractEntries, tenant: string, agent: string, intent: string): Verdict {
  return chartersVerdict(chartersOf(view, tenant, agent), intent);
}

function chartersOf(view: ContractEntries, tenant: string, agent: string): readonly StandingCharter[] {
  return [...new Set([tenant, '*'])].flatMap((owner) =>
    namesIn(view.get(charterPlace(owner, agent))).flatMap((name) => {
      const found = entryIn(view, 'agent_charter', owner, name);
      return found === undefined ? [] : [{ tenant: owner, entry: found.entry }];
    }),
  );
}

/** A subscription that stands, with its name. */
export interface StandingSubscription extends EntryBody<'subscription'> {
  readonly name: string;
}

/** The subscriptions that can reach a tenant's commits, its own and those for all; each in order of names. */
export function subscriptionsOf(view: ContractEntries, tenant: string): readonly StandingSubscription[] {
  return [tenant, '*'].flatMap((owner) =>
    namesIn(view.get(`subscriptions/${owner}`)).flatMap((name) => {
      const found = view.get(entryPlace('subscription', owner, name));
      return found === undefined ? [] : [readSubscription(found, name, owner)];
    }),
  );
}

/** A routine rule that stands, with the version of the bundle it is in, and who registered that; null where nobody says. */
export interface StandingRoutine {
  /** A tenant, or `*` for the platform. */
  readonly owner: string;
  readonly bundle: string;
  readonly version: number;
  readonly registeredBy: Asking | null;
  readonly rule: RoutineRule;
}

/** Routine rules about a capability: those of the tenant's own bundles, then those for all, each in order of names. A tenant's own bundle hides that for all of its name. */
export function routinesFor(view: ContractEntries, tenant: string, capability: string): readonly StandingRoutine[] {
  const own = namesIn(view.get(routineKey(tenant, capability)));
  const others = namesIn(view.get(routineKey('*', capability))).filter(
    (name) => tenant === '*' || view.get(entryPlace('policy_bundle', tenant, name)) === undefined,
  );
  const found = [
    ...own.map((bundle) => ({ owner: tenant, bundle })),
    ...(tenant === '*' ? [] : others.map((bundle) => ({ owner: '*', bundle }))),
  ];
  return found.flatMap(({ owner, bundle }) => {
    const entry = view.get(entryPlace('policy_bundle', owner, bundle));
    if (entry === undefined) return [];
    const { version, registered_by: by, accounts } = entry;
    // The fold took them from the record.
    const registeredBy = typeof by === 'string' ? { principal: by, accounts: accounts as readonly string[] } : null;
    return (bodyOf('policy_bundle', String(entry['body']), owner).routine ?? [])
      .filter(({ capabilities }) => capabilities.includes(capability))
      .map((rule) => ({ owner, bundle, version: Number(version), registeredBy, rule }));
  });
}

/** Subscriptions as they were read; an entry that is replaced is another object, so none is stale. */
const readOnce = new WeakMap<Doc, StandingSubscription>();

function readSubscription(entry: Doc, name: string, owner: string): StandingSubscription {
  const read = readOnce.get(entry) ?? { ...bodyOf('subscription', String(entry['body']), owner), name };
  readOnce.set(entry, read);
  return read;
}

/** Where switches, charters and routine rules are found by what they are about, subscriptions by whose they are. Several may be about the same; each is lifted by itself. */
function places(
  { kind, tenant, name }: Doc,
  before: Doc | undefined,
  after: Doc | null,
  get: (key: string) => Doc | undefined,
): readonly (readonly [string, Doc | null])[] {
  const [from = [], to = []] = [before, after].map((doc) =>
    doc === undefined || doc === null ? [] : placesOf(kind, String(tenant), String(doc['body'])),
  );
  const dropped = from
    .filter((place) => !to.includes(place))
    .map((place) => {
      const without = namesIn(get(place)).filter((each) => each !== name);
      return [place, without.length === 0 ? null : { names: without }] as const;
    });
  return [
    ...dropped,
    ...to.map((place) => [place, { names: [...new Set([...namesIn(get(place)), String(name)])].sort() }] as const),
  ];
}

function placesOf(kind: unknown, tenant: string, body: string): readonly string[] {
  switch (kind) {
    case 'policy_bundle':
      return [
        ...new Set(
          (bodyOf(kind, body, tenant).routine ?? []).flatMap(({ capabilities }) =>
            capabilities.map((capability) => routineKey(tenant, capability)),
          ),
        ),
      ];
    case 'kill_switch':
      return killPlaces(tenant, bodyOf(kind, body, tenant));
    case 'agent_charter':
      return [charterPlace(tenant, bodyOf(kind, body, tenant).agent)];
    case 'autonomy_policy':
      return bodyOf(kind, body, tenant).capabilities.map((capability) => autonomyKey(tenant, capability));
    case 'subscription':
      return [`subscriptions/${tenant}`];
    default:
      return [];
  }
}

function routineKey(tenant: string, capability: string): string {
  return placeOf('routine', tenant, capability);
}

function killPlaces(tenant: string, entry: EntryBody<'kill_switch'>): readonly string[] {
  const place = placeOf('kill', tenant, scopeOf(entry));
  return entry.scope.over === 'agent' ? [place, placeOf('kill', tenant, 'agents')] : [place];
}

function scopeOf({ scope }: EntryBody<'kill_switch'>): string {
  switch (scope.over) {
    case 'tenant':
      return 'tenant';
    case 'agent':
      return `agent/${personKey(scope.agent)}`;
    case 'capability':
      return `capability/${scope.capability}`;
  }
}

/** Names that stand in a place. */
export function namesIn(doc: Doc | undefined): readonly string[] {
  // Entries of this key are written by the fold alone.
  return (doc?.['names'] as readonly string[] | undefined) ?? [];
}

/** An entry as it was registered. Errors: InvariantViolation. */
export function bodyOf<Kind extends EntryKind>(kind: Kind, body: string, tenant: string): EntryBody<Kind> {
  const review = reviewEntry(kind, body, tenant);
  if (!review.ok)
    throw new InvariantViolation(
      'registered entries parse',
      `${kind}: ${review.problems.map(({ code }) => code).join(', ')}`,
    );
  return review.entry;
}
