// Which records tell the story of a mutation, a rollback or a run: from the contract and the intent to the last notice. Pure.
//
// Invariants
//   S1. A line is one record, or one member of a record about several: it names the record by its hash, and the member by its index.
//   S2. What is selected follows from the records alone: the same logs tell the same story, whoever asks.
//   S3. A name is one of its tenant: another tenant may choose the same ids, and nothing that it wrote is told. What stands for all
//       tenants are contracts alone.
import { subjectId, subjectOfAssumption } from '@recourse/contract';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Accepted } from '../audit/accepted.js';

export const STORY_LOGS = [
  'recourse.contracts',
  'recourse.assumptions',
  'recourse.mutations',
  'recourse.rollback-notifications',
  'recourse.recoveries',
  'recourse.budgets',
] as const;

/** What a story is about. */
export interface About {
  readonly kind: 'mutation' | 'rollback' | 'run';
  readonly tenant: string;
  readonly id: string;
}

/** What is asked for. */
export interface Asked {
  readonly id: string;
  /** Null: of the one tenant that has it. */
  readonly tenant: string | null;
}

/** One line before it has words. */
export interface Told {
  readonly record: Accepted;
  /** Index within the record; null where the record is about one thing. */
  readonly index: number | null;
  /** The record with what it says of this member on top. */
  readonly says: Doc;
  /** When it was decided, epoch milliseconds; of a notice, when what it tells of was. */
  readonly at: number;
}

/** What belongs to a story, by name. */
interface Names {
  readonly mutations: ReadonlySet<string>;
  readonly runs: ReadonlySet<string>;
  readonly effectKeys: ReadonlySet<string>;
  readonly steps: ReadonlySet<string>;
  readonly refs: ReadonlySet<string>;
  readonly contracts: ReadonlySet<string>;
  readonly approvals: ReadonlySet<string>;
  readonly reservations: ReadonlySet<string>;
  /** Ids of the subjects whose data it is, of its runs, and of what it assumed: what is said of that is sealed as its own. */
  readonly subjects: ReadonlySet<string>;
}

/** The lines of a story in the order in which they were decided; null where the logs hold nothing under that name, or of several tenants. */
export function select(
  records: readonly Accepted[],
  asked: Asked,
): { readonly about: About; readonly told: readonly Told[] } | null {
  const all = records.flatMap(membersOf);
  const [about, ...others] = aboutsOf(all, asked);
  if (about === undefined || others.length > 0) return null;
  const members = all.filter((member) => isOfTenant(member, about.tenant));
  const names = namesOf(members, about);
  const times = timesOf(records);
  const told = members
    .filter((member) => belongs(member, names, about))
    .map(({ record, index, says }) => ({ record, index, says, at: atOf(record, says, times) }));
  return { about, told: told.toSorted(inOrder) };
}

/** Tenants in which the logs hold something under that name. */
export function tenantsOf(records: readonly Accepted[], id: string): readonly string[] {
  return aboutsOf(records.flatMap(membersOf), { id, tenant: null }).map(({ tenant }) => tenant);
}

type Member = Omit<Told, 'at'>;

/** A record as its members, or as itself where it has none. */
function membersOf(record: Accepted): readonly Member[] {
  const body = docOf(record.body);
  const { members, others, ...common } = body;
  if (Array.isArray(others) && others.length > 0) return besideOthers(record, common, others.map(docOf));
  if (!Array.isArray(members)) return [{ record, index: null, says: body }];
  return members.map((member, index) => ({ record, index, says: { ...common, ...docOf(member) } }));
}

/** What a record says on top is its first member. The root of a fall is each one's own. */
function besideOthers(record: Accepted, first: Doc, others: readonly Doc[]): readonly Member[] {
  const evidence = docOf(first['evidence']);
  const says = others.map(({ root, ...other }) => ({ ...first, ...other, evidence: { ...evidence, root } }));
  return [first, ...says].map((one, index) => ({ record, index, says: one }));
}

const textIn = (says: Doc, field: string): string | null => (typeof says[field] === 'string' ? says[field] : null);
const runOf = (says: Doc): string | null => textIn(says, 'run_id') ?? textIn(docOf(says['execution']), 'run_id');

const ALL_TENANTS = '*';
const tenantOf = (says: Doc): string | null => textIn(says, 'tenant') ?? textIn(docOf(says['execution']), 'tenant');

function isOfTenant({ record: { log }, says }: Member, tenant: string): boolean {
  const own = tenantOf(says);
  return own === tenant || (own === ALL_TENANTS && log === 'recourse.contracts');
}

/** What bears that name, a tenant each: a mutation before a rollback before a run. */
function aboutsOf(members: readonly Member[], { id, tenant: asked }: Asked): readonly About[] {
  const kindsOf = new Map<string, Set<About['kind']>>();
  for (const { says } of members) {
    const [tenant, kind] = [tenantOf(says), kindOf(says, id)];
    if (tenant === null || tenant === ALL_TENANTS || kind === null) continue;
    if (asked !== null && tenant !== asked) continue;
    kindsOf.set(tenant, (kindsOf.get(tenant) ?? new Set()).add(kind));
  }
  return [...kindsOf].sort().flatMap(([tenant, kinds]) => {
    const kind = KINDS.find((one) => kinds.has(one));
    return kind === undefined ? [] : [{ kind, tenant, id }];
  });
}

const KINDS = ['mutation', 'rollback', 'run'] as const satisfies readonly About['kind'][];

function kindOf(says: Doc, id: string): About['kind'] | null {
  if (says['mutation_id'] === id) return 'mutation';
  if (says['rollback_id'] === id) return 'rollback';
  return runOf(says) === id ? 'run' : null;
}

/** The mutations first; then everything that names one of them, or that they name. */
function namesOf(members: readonly Member[], { kind, tenant, id }: About): Names {
  const isOf: (says: Doc) => boolean = {
    mutation: (says: Doc) => says['mutation_id'] === id,
    rollback: (says: Doc) => says['rollback_id'] === id,
    run: (says: Doc) => runOf(says) === id,
  }[kind];
  const mutations = namedIn(
    members.filter(({ says }) => isOf(says)),
    'mutation_id',
  );
  const theirs = members.filter(({ says }) => mutations.has(String(says['mutation_id'])));
  const executions = theirs.map(({ says }) => docOf(says['execution'])).filter((one) => one['run_id'] !== undefined);
  const keys = new Set(executions.flatMap((one) => textIn(one, 'effect_key') ?? []));
  const runs = new Set([...theirs.flatMap(({ says }) => runOf(says) ?? []), ...(kind === 'run' ? [id] : [])]);
  const ofKeys = members.filter(({ says }) => keys.has(String(says['effect_key'])) && runs.has(String(says['run_id'])));
  const refs = new Set(theirs.flatMap(assumedIn));
  return {
    mutations,
    runs,
    effectKeys: keys,
    steps: namedIn(theirs, 'step_id'),
    refs,
    contracts: new Set(theirs.flatMap(({ says }) => hashIn(docOf(says['terms'])['contract_digest']) ?? [])),
    approvals: namedIn(ofKeys, 'approval_id'),
    reservations: namedIn([...ofKeys, ...theirs], 'reservation_id'),
    subjects: new Set([
      ...[...theirs.map(({ says }) => says), ...executions].flatMap(subjectsOf),
      ...[...refs].map((ref) => subjectId(tenant, subjectOfAssumption(ref))),
    ]),
  };
}

const assumedIn = ({ says }: Member): readonly string[] => [
  ...refsIn(says['assumption_refs']),
  ...refsIn(docOf(says['ref'])['assumption_refs']),
];

/** Under which an erasure of a record's payloads is told, where it names anybody. */
function subjectsOf(says: Doc): readonly string[] {
  const [tenant, run] = [textIn(says, 'tenant'), textIn(says, 'run_id')];
  if (tenant === null) return [];
  const named = [says, docOf(says['ref'])].flatMap((one) => textIn(one, 'subject_ref') ?? []);
  return [...named, ...(run === null ? [] : [`run/${run}`])].map((subject) => subjectId(tenant, subject));
}

const namedIn = (members: readonly Member[], field: string): ReadonlySet<string> =>
  new Set(members.flatMap(({ says }) => textIn(says, field) ?? []));

function refsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function hashIn(value: unknown): string | null {
  return Buffer.isBuffer(value) ? value.toString('hex') : typeof value === 'string' ? value : null;
}

/** Bookkeeping of a log says nothing of anybody. */
const SILENT: ReadonlySet<string> = new Set(['Progress', 'CommandAnswered', 'ObligationResent', 'StormCounted']);

function belongs({ record: { log, type }, says }: Member, names: Names, about: About): boolean {
  if (SILENT.has(type)) return false;
  const is: Is = (field, among) => {
    const value = textIn(says, field);
    return value !== null && among.has(value);
  };
  if (type === 'ErasureOrdered') return isErasure(says, names, is);
  const isOfEffect = is('effect_key', names.effectKeys) && is('run_id', names.runs);
  if (log === 'recourse.contracts') return type === 'ContractRegistered' && isContract(says, names);
  if (log === 'recourse.assumptions') return isFact(says, names, is);
  if (log === 'recourse.budgets') return isOfEffect || is('reservation_id', names.reservations);
  return isOfEffect || isAboutEffect(is, names) || isAboutRun(type, says, { names, about, is });
}

/** Of this subject, or of everybody's windows that had ended. */
function isErasure(says: Doc, { subjects }: Names, is: Is): boolean {
  return says['subject_id'] === null || is('subject_id', subjects);
}

type Is = (field: string, among: ReadonlySet<string>) => boolean;

function isContract(says: Doc, { contracts }: Names): boolean {
  return contracts.has(hashIn(says['digest']) ?? '');
}

/** Of every run or of one of these. */
function isFact(says: Doc, { refs, runs }: Names, is: Is): boolean {
  return is('ref', refs) && (says['run_id'] === null || is('run_id', runs));
}

function isAboutEffect(is: Is, { mutations, steps, approvals }: Names): boolean {
  return (
    is('mutation_id', mutations) ||
    is('reverses_mutation_id', mutations) ||
    is('step_id', steps) ||
    is('approval_id', approvals)
  );
}

/** What is about a run as a whole: its checkpoints where the run is told, and the end of its recovery always. */
function isAboutRun(
  type: string,
  says: Doc,
  { names, about, is }: { readonly names: Names; readonly about: About; readonly is: Is },
): boolean {
  if (type === 'RecoveryClosed') return is('run_id', names.runs);
  return about.kind === 'run' && says['mutation_id'] === undefined && runOf(says) === about.id;
}

/** When each record of the ledger's log was decided: a notice is told when its source was. */
function timesOf(records: readonly Accepted[]): ReadonlyMap<string, number> {
  return new Map(
    records
      .filter(({ log }) => log === 'recourse.mutations')
      .map(({ partition, seq, body }) => [`${String(partition)}/${String(seq)}`, Number(docOf(body)['decided_at'])]),
  );
}

function atOf({ partition }: Accepted, says: Doc, times: ReadonlyMap<string, number>): number {
  if (typeof says['decided_at'] === 'number') return says['decided_at'];
  return times.get(`${String(partition)}/${String(says['source_seq'])}`) ?? 0;
}

/** By time; in one instant what causes comes before what follows: the logs in their order, each in its own. */
function inOrder(one: Told, other: Told): number {
  const rank = ({ record }: Told): number => (STORY_LOGS as readonly string[]).indexOf(record.log);
  return (
    one.at - other.at ||
    rank(one) - rank(other) ||
    one.record.partition - other.record.partition ||
    one.record.seq - other.record.seq ||
    (one.index ?? 0) - (other.index ?? 0)
  );
}
