// The contracts log folded into a map, and how contracts are read out of it.
//
// Entries: `digest/<hex>` is every version ever registered, with the instant since which it is the newest of its owner no more (`until`), and which came `next`;
// `name/<owner>/<capability>` is the latest, as long as it is not retired, and since when it is (`since`);
// `last/<owner>/<capability>` is the newest version, retired or not, and who made it. The owner is a tenant, or `*` for the platform;
// `closer/<capability>` says that some contract names this capability as what closes a window; `handles/<capability>` which arguments of
// a reversal some contract gives the handle of its effect to.
import { InvariantViolation } from '@recourse/kernel';
import type { ContractTerms } from '@recourse/messages';
import { parseContract } from './body.js';
import { reversalCallsOf } from './class.js';
import { governing } from './diff/governing.js';
import { placeOf } from './entries/places.js';
import { CAPABILITY_PATTERN } from './shape.js';
import type { Contract } from './shape.js';

type Doc = Readonly<Record<string, unknown>>;

/** Owner of what holds for every tenant. */
const PLATFORM = '*';

/** What is read of a view; a BroadcastView of the loop is one. */
export interface ContractEntries {
  readonly get: (key: string) => Doc | undefined;
}

/** A registered contract. A retired one takes no new executions; mutations under it are still recovered. */
export interface KnownContract {
  readonly contract: Contract;
  readonly digest: Buffer;
  readonly retired: boolean;
}

/** A record as it is folded; `decidedAt` in epoch milliseconds. */
interface Folded {
  readonly type: string;
  readonly body: Doc;
  readonly decidedAt: number;
}

/** View of the contracts log, as a service core declares it. */
export const contractView = {
  name: 'contracts',
  topic: 'recourse.contracts',
  fold: (record: Folded, get: (key: string) => Doc | undefined): readonly (readonly [string, Doc | null])[] => {
    if (record.type === 'ContractRegistered') return registered(record, get);
    return record.type === 'ContractRetired' ? retired(record, get) : [];
  },
} as const;

/** Finds the contract with this digest; retired ones too. */
export function contractByDigest(view: ContractEntries, digest: Buffer): KnownContract | undefined {
  const entry = view.get(`digest/${digest.toString('hex')}`);
  return entry === undefined ? undefined : known(digest, String(entry['body']), entry['retired'] === true);
}

/** Finds the contract that binds a tenant: the latest of its own, or the platform's where that is stricter; a retired one is not found. */
export function contractByName(view: ContractEntries, tenant: string, name: string): KnownContract | undefined {
  const platform = latestOf(view, PLATFORM, name);
  return tenant === PLATFORM ? platform : governing(latestOf(view, tenant, name), platform);
}

/**
 * Finds the contract that binds what executed under a version: as contractByName, but the newest of that version's owner counts retired or
 * not. One editor may retire it, which ends new executions and loosens nothing for those before; where another owner's would bind in its
 * place, two people agreed to that.
 */
export function contractOfOpen(
  view: ContractEntries,
  tenant: string,
  { contract_name: name, contract_digest: digest }: Pick<ContractTerms, 'contract_name' | 'contract_digest'>,
): KnownContract | undefined {
  const executed = contractByDigest(view, digest)?.contract.tenant ?? PLATFORM;
  const [own, platform] = [tenant, PLATFORM].map((owner) =>
    (owner === executed ? lastOf : latestOf)(view, owner, name),
  );
  return tenant === PLATFORM ? platform : governing(own, platform);
}

/** The newest contracts of a capability, the tenant's own and the platform's, retired or not: what is called is what they say it is. */
export function contractsOfCalled(view: ContractEntries, tenant: string, name: string): readonly Contract[] {
  return [...new Set([tenant, PLATFORM])].flatMap((owner) => lastOf(view, owner, name)?.contract ?? []);
}

function lastOf(view: ContractEntries, owner: string, name: string): KnownContract | undefined {
  const entry = view.get(placeOf('last', owner, name));
  return entry === undefined ? undefined : contractByDigest(view, Buffer.from(String(entry['digest']), 'hex'));
}

function latestOf(view: ContractEntries, owner: string, name: string): KnownContract | undefined {
  const entry = view.get(placeOf('name', owner, name));
  return entry === undefined
    ? undefined
    : known(Buffer.from(String(entry['digest']), 'hex'), String(entry['body']), false);
}

/** How long a version that is not the newest any more may still be named: agents that read it at their start take up the new one. */
export const SUPERSEDED_GRACE_MS = 3_600_000;

/**
 * Whether a version that an action names bound no more when it did (A22): it was retired, or what binds the tenant is stricter, for longer
 * than SUPERSEDED_GRACE_MS. An older version that is as strict as what binds takes nothing from anybody.
 *
 * Units:  `now` in epoch milliseconds.
 */
export function isSuperseded(view: ContractEntries, tenant: string, named: KnownContract, now: number): boolean {
  const { contract, digest, retired: isRetired } = named;
  const binding = contractByName(view, tenant, contract.name);
  if (binding?.digest.equals(digest) === true) return false;
  if (now - endOf(view, named, binding) <= SUPERSEDED_GRACE_MS) return false;
  return isRetired || binding === undefined || governing(named, binding) !== named;
}

/** Since when a version may be named no more: it was retired, the first stricter one of its owner came, none of its owner binds, or one of the other owner does. */
function endOf(view: ContractEntries, named: KnownContract, binding: KnownContract | undefined): number {
  const ends = [entryOf(view, named.digest.toString('hex'))?.['retired_at'], stricterSince(view, named)];
  const said = ends.filter((end): end is number => typeof end === 'number');
  return said.length > 0 ? Math.min(...said) : Number(sinceOf(view, binding));
}

/** Goes through the versions that came after it; what ends them is the retirement of the newest. */
function stricterSince(view: ContractEntries, named: KnownContract): unknown {
  let entry = entryOf(view, named.digest.toString('hex'));
  for (;;) {
    const next = typeof entry?.['next'] === 'string' ? entry['next'] : null;
    if (next === null) return entry?.['until'];
    const follower = contractByDigest(view, Buffer.from(next, 'hex'));
    if (follower !== undefined && governing(named, follower) !== named) return entry?.['until'];
    entry = entryOf(view, next);
  }
}

function entryOf(view: ContractEntries, digest: string): Doc | undefined {
  return view.get(`digest/${digest}`);
}

/** Since when a version is the newest of its owner. */
function sinceOf(view: ContractEntries, binding: KnownContract | undefined): unknown {
  return binding && view.get(placeOf('name', binding.contract.tenant ?? PLATFORM, binding.contract.name))?.['since'];
}

/**
 * Who wrote a version, or confirmed it, and who did so for the newest versions of the same capability: the tenant's own and the
 * platform's.
 *
 * Shape:  subjects as their tokens said, in no order; empty for a digest nobody registered. Retiring a version takes nobody off.
 * Source: issue 5, people: no approval by the contract's last editor.
 */
export function editorsOf(view: ContractEntries, tenant: string, digest: Buffer): readonly string[] {
  const executed = view.get(`digest/${digest.toString('hex')}`);
  if (executed === undefined) return [];
  const newest = [...new Set([tenant, PLATFORM])].map((owner) =>
    view.get(placeOf('last', owner, String(executed['name']))),
  );
  return [executed, ...newest].flatMap(subjectsIn);
}

function subjectsIn(entry: Doc | undefined): readonly string[] {
  return (entry?.['editors'] ?? []) as readonly string[];
} // registered() wrote it

function registered(
  { body, decidedAt }: Folded,
  get: (key: string) => Doc | undefined,
): readonly (readonly [string, Doc])[] {
  const digest = hexOf(body['digest']);
  const name = String(body['name']);
  const [latest, last] = ['name', 'last'].map((place) => placeOf(place, String(body['tenant']), name)) as [
    string,
    string,
  ]; // two places
  const editors = [body['registered_by'], body['confirmed_by']].filter((who) => typeof who === 'string');
  return [
    ...ended(String(get(latest)?.['digest']), digest, decidedAt, get),
    [`digest/${digest}`, { body: body['body'], retired: false, name, editors }],
    [latest, { digest, version: body['version'], body: body['body'], since: decidedAt }],
    [last, { digest, editors }],
    ...closersOf(String(body['body'])),
    ...handlesOf(String(body['body']), get),
  ];
}

/** A version that is the newest no more, and which came next. */
function ended(
  digest: string,
  next: string,
  until: number,
  get: (key: string) => Doc | undefined,
): readonly (readonly [string, Doc])[] {
  const entry = get(`digest/${digest}`);
  return entry === undefined || digest === next ? [] : [[`digest/${digest}`, { ...entry, until, next }]];
}

/** What one contract gives the handle to takes handles, whoever else calls it, also once that contract is retired. */
function handlesOf(body: string, get: (key: string) => Doc | undefined): readonly (readonly [string, Doc])[] {
  if (!body.includes('"external_ref"')) return [];
  const places = new Map<string, ReadonlySet<string>>();
  // Bodies are contracts in JSON.
  for (const { capability, args } of reversalCallsOf(JSON.parse(body) as Contract)) {
    const taking = Object.entries(args).flatMap(([name, { from }]) => (from === 'external_ref' ? [name] : []));
    if (capability === null || taking.length === 0) continue;
    const known = places.get(capability) ?? placesIn(get(`handles/${capability}`));
    places.set(capability, new Set([...known, ...taking]));
  }
  return [...places].map(([capability, names]) => [`handles/${capability}`, { names: [...names] }] as const);
}

/** Arguments of a capability that some contract gives the handle of its effect to. */
export function handlePlaces(view: ContractEntries, capability: string): ReadonlySet<string> {
  return placesIn(view.get(`handles/${capability}`));
}

function placesIn(entry: Doc | undefined): ReadonlySet<string> {
  return new Set((entry?.['names'] ?? []) as readonly string[]); // handlesOf() wrote it
}

/** A capability that closed windows once closes those of the mutations that are still open under that version. */
function closersOf(body: string): readonly (readonly [string, Doc])[] {
  const named = body.includes('"window_closed_by"')
    ? ((JSON.parse(body) as Pick<Contract, 'window_closed_by'>).window_closed_by ?? [])
    : []; // bodies are contracts in JSON
  return named
    .filter((event) => CAPABILITY_PATTERN.test(event))
    .map((event) => [`closer/${event}`, { names: event }] as const);
}

/** Does an execution of this capability close windows under some contract? */
export function isCloser(view: ContractEntries, capability: string): boolean {
  return view.get(`closer/${capability}`) !== undefined;
}

function retired(
  { body, decidedAt }: Folded,
  get: (key: string) => Doc | undefined,
): readonly (readonly [string, Doc | null])[] {
  const digest = hexOf(body['digest']);
  const name = placeOf('name', String(body['tenant']), String(body['name']));
  const entry = get(`digest/${digest}`);
  return [
    ...(entry === undefined
      ? []
      : [[`digest/${digest}`, { until: decidedAt, ...entry, retired: true, retired_at: decidedAt }] as const]),
    ...(get(name)?.['digest'] === digest ? [[name, null] as const] : []),
  ];
}

/** Parsed contracts kept at the most; a digest names one body for ever, so an entry is never stale. */
const PARSED_MAX = 4_096;
const parsed = new Map<string, Contract>();

function known(digest: Buffer, body: string, isRetired: boolean): KnownContract {
  const key = digest.toString('hex');
  const found = parsed.get(key);
  if (found !== undefined) return { contract: found, digest, retired: isRetired };
  const read = parseContract(body);
  if (!read.ok)
    throw new InvariantViolation(
      'registered contracts parse',
      `${key}: ${read.problems.map((each) => each.code).join(', ')}`,
    );
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(key, read.contract);
  return { contract: read.contract, digest, retired: isRetired };
}

function hexOf(value: unknown): string {
  // Avro fixed fields arrive as Buffers.
  return (value as Buffer).toString('hex');
}
