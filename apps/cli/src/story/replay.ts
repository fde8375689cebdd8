// A run, replayed from its packet: what ledger, orchestrator and accountant decided is told as their cores made it again; what the ledger
// concluded from a contract is concluded anew where its core could not; and what would have become of the same run under another contract,
// policy or ceiling (D58). Pure.
//
// Invariants
//   Y1. What people and sources said, and what was observed, is input: it is taken as recorded. What services concluded is a decision:
//       it is made anew by the same rules, or said not to be.
//   Y2. Nothing is `equal` as long as one decision was not made anew.
//   Y3. A counterfactual stops at the first decision that would have been another: what came after it nobody knows.
import { isDeepStrictEqual } from 'node:util';
import { classUnder, contractDigest, parseContract, termsOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Accepted } from '../audit/accepted.js';
import { hashIn } from './selection.js';
import { PINNED_LOGS } from './decisions.process.js';
import type { Checked, Place } from './decisions.process.js';
import { placeName } from './place-name.js';

/** One decision, made anew or not. */
export interface Replayed {
  readonly place: string;
  readonly type: string;
  readonly decision: 'contract' | 'terms' | 'class' | 'window' | 'binding' | 'rule' | 'other';
  readonly outcome: 'equal' | 'differs' | 'not_made';
  /** What differs, or why it was not made; null where it is equal. */
  readonly code: string | null;
  /** The field, the row or the entry that it is about. */
  readonly field?: string | null;
  /** What it rests on that no record of the packet shows: told as it was, and not proved. */
  readonly pinned?: readonly string[];
}

/** A record, as people can read it. */
interface Shown {
  readonly type: string;
  readonly body: Doc;
}

/** The same run under another contract: nothing changes, or this record would have been another, or nobody can say. */
export interface Counterfactual {
  readonly outcome: 'unchanged' | 'diverged' | 'unknown';
  readonly at: string | null;
  readonly why: readonly string[];
  /** What was decided there, and what would have been. */
  readonly decided?: { readonly then: readonly Shown[]; readonly otherwise: readonly Shown[] };
}

export interface RunReplay {
  readonly outcome: 'equal' | 'differs' | 'incomplete';
  readonly decisions: readonly Replayed[];
  readonly counterfactual: Counterfactual | null;
}

/** What a decision that comes out otherwise is called. */
const OTHERWISE = {
  terms: { code: 'REPLAY_TERMS_DIFFER' },
  class: { code: 'REPLAY_CLASS_DIFFERS' },
  window: { code: 'REPLAY_WINDOW_DIFFERS' },
} as const;

/** What was said, seen or registered: nobody concluded it. */
const INPUTS: ReadonlySet<string> = new Set([
  'ContractRegistered',
  'AssumptionStated',
  'FactsObserved',
  'StepApproved',
  'StepDenied',
  'StepResolved',
  'GlassBroken',
  'ForwardApprovalRequested',
  'ForwardApprovalDecided',
  'ForwardApprovalUsed',
  'EscalationDecided',
  'SourceJudged',
  'MutationSettled',
  'ConsumerAcknowledged',
]);

/** Records of which a contract alone says a part: terms, class and window. */
const FROM_CONTRACT: ReadonlySet<string> = new Set(['MutationPlanned', 'MutationRecorded']);

/** What the services made of their decisions: each by the places of its records, and why others were not pinned. */
export interface RemadeRun {
  readonly checked: readonly Checked[];
  readonly unpinned: readonly { readonly record: Omit<Place, 'hash'>; readonly why: string }[];
}

/** Replays records of a run, in the order in which its story tells them. */
export function replayRun(
  records: readonly Accepted[],
  other: Contract | null,
  remade: RemadeRun = { checked: [], unpinned: [] },
): RunReplay {
  const contracts = contractsIn(records);
  const ruled = ruledIn(remade);
  const decisions = records.flatMap((record): readonly Replayed[] => {
    const rule = ruled.get(placeName(record));
    if (rule !== undefined) {
      const told = { place: placeName(record), type: record.type, ...rule };
      return rule.outcome === 'not_made' && FROM_CONTRACT.has(record.type)
        ? [...replayed(record, contracts).filter(({ decision }) => decision !== 'binding'), told]
        : [told];
    }
    return INPUTS.has(record.type) ? [] : replayed(record, contracts);
  });
  const has = (outcome: Replayed['outcome']): boolean => decisions.some((one) => one.outcome === outcome);
  const isLacking = has('not_made') || decisions.length === 0 || decisions.some(({ pinned = [] }) => pinned.length > 0);
  return {
    outcome: has('differs') ? 'differs' : isLacking ? 'incomplete' : 'equal',
    decisions,
    counterfactual: other === null ? null : under(other, records),
  };
}

type Ruled = Omit<Replayed, 'place' | 'type'>;

/** What is said of each record that a service decided. */
function ruledIn({ checked, unpinned }: RemadeRun): ReadonlyMap<string, Ruled> {
  const lacking = unpinned.map(({ record, why }): readonly [string, Ruled] => [
    placeName(record),
    { decision: 'rule', outcome: 'not_made', code: why },
  ]);
  const made = checked.flatMap(({ records, outcome, code, field, pinned }) =>
    records.map((place): readonly [string, Ruled] => [
      placeName(place),
      { decision: 'rule', outcome, code, field, pinned },
    ]),
  );
  return new Map([...lacking, ...made]);
}

/** The run under another policy bundle or other ceilings, as far as its decisions were made again: the first record that would have been another. */
export function otherwiseIn(records: readonly Accepted[], { checked, unpinned }: RemadeRun): Counterfactual {
  const lacking = new Map(unpinned.map(({ record, why }) => [placeName(record), why]));
  const lackOf = (record: Accepted): string => lacking.get(placeName(record)) ?? 'not_pinned';
  const decided = new Map(checked.flatMap((one) => one.records.map((place) => [placeName(place), one] as const)));
  let isConcerned = false;
  // The ledger judges no ceiling, and no policy of recovery: what it decided and nobody could make hides no other decision.
  const isPassed = (record: Accepted): boolean =>
    record.log === 'recourse.mutations' && decided.get(placeName(record))?.outcome !== 'equal';
  const pinned = records.filter(({ log }) => (PINNED_LOGS as readonly string[]).includes(log));
  for (const record of pinned.filter((one) => !isPassed(one))) {
    const made = decided.get(placeName(record));
    const unknown = (why: string): Counterfactual => ({ outcome: 'unknown', at: placeName(record), why: [why] });
    if (made === undefined || made.outcome !== 'equal' || made.otherwise === null)
      return unknown(made?.code ?? lackOf(record));
    const { outcome, at, why, is_concerned } = made.otherwise;
    if (outcome === 'unknown') return unknown(why ?? 'not_pinned');
    isConcerned ||= is_concerned;
    if (outcome === 'unchanged') continue;
    const then = records.filter((one) => made.records.some((place) => placeName(place) === placeName(one)));
    const shown = then.map(({ type, body }) => ({ type, body: docOf(plain(body)) }));
    const both = { then: shown, otherwise: made.otherwise.decided };
    return { outcome: 'diverged', at: placeName(at ?? record), why: [why ?? 'type'], decided: both };
  }
  return isConcerned
    ? { outcome: 'unchanged', at: null, why: [] }
    : { outcome: 'unknown', at: null, why: ['no decision of the packet read what would have been another'] };
}

/** Registered contracts by digest; one whose body has another digest stands under none. */
function contractsIn(records: readonly Accepted[]): ReadonlyMap<string, Contract> {
  return new Map(
    records
      .filter(({ type }) => type === 'ContractRegistered')
      .flatMap(({ body }) => {
        const { body: text, digest } = docOf(body);
        const read = typeof text === 'string' ? parseContract(text) : null;
        const isSo = typeof text === 'string' && contractDigest(text).toString('hex') === hashIn(digest);
        return read?.ok === true && isSo ? [[hashIn(digest) ?? '', read.contract] as const] : [];
      }),
  );
}

function replayed(record: Accepted, contracts: ReadonlyMap<string, Contract>): readonly Replayed[] {
  const { type } = record;
  const said = (decision: Replayed['decision'], outcome: Replayed['outcome'], code: string | null): Replayed => ({
    place: placeName(record),
    type,
    decision,
    outcome,
    code,
  });
  if (!FROM_CONTRACT.has(type)) return [said('other', 'not_made', 'rule_not_offline')];
  const body = docOf(record.body);
  const terms = docOf(body['terms']);
  const digest = hashIn(terms['contract_digest']);
  const contract = digest === null ? undefined : contracts.get(digest);
  if (digest !== null && contract === undefined) return [said('contract', 'not_made', 'contract_missing')];
  const compared: Compared = (decision, isSo) =>
    said(decision, isSo ? 'equal' : 'differs', isSo ? null : OTHERWISE[decision].code);
  const found = contract === undefined || digest === null ? null : termsOf(contract, Buffer.from(digest, 'hex'));
  return [
    compared('terms', isDeepStrictEqual(plain(found), plain(body['terms'] ?? null))),
    ...(type === 'MutationPlanned' ? [] : ofRecorded(body, contract ?? null, compared, said)),
  ];
}

type Compared = (decision: keyof typeof OTHERWISE, isSo: boolean) => Replayed;

function ofRecorded(
  body: Doc,
  contract: Contract | null,
  compared: Compared,
  said: (decision: Replayed['decision'], outcome: Replayed['outcome'], code: string | null) => Replayed,
): readonly Replayed[] {
  const ref = docOf(body['ref']);
  const isBound = docOf(ref['reversal_args'])['sha256'] !== undefined;
  return [
    compared('class', ref['reversal_class'] === classUnder(contract)),
    ...(isBound
      ? [
          compared('window', ref['reversal_expires_at'] === windowEndOf(body, contract)),
          said('binding', 'not_made', 'payload_sealed'),
        ]
      : []),
  ];
}

/** When the window of an effect ends under a contract, epoch milliseconds; null without one. */
function windowEndOf(body: Doc, contract: Contract | null): number | null {
  const { committed_at: committed } = docOf(body['ref']);
  const window = contract === null ? null : termsOf(contract, Buffer.alloc(32)).reversal_window_ms;
  return typeof committed === 'number' && window !== null ? committed + window : null;
}

/** Every effect of the capability, judged as if this contract had stood. */
function under(other: Contract, records: readonly Accepted[]): Counterfactual {
  for (const record of records) {
    const body = docOf(record.body);
    if (record.type !== 'MutationPlanned' && record.type !== 'MutationRecorded') continue;
    if (docOf(body['execution'])['capability'] !== other.name) continue;
    const changes = changesIn(body, other, record.type === 'MutationRecorded');
    if (changes.length > 0) return { outcome: 'diverged', at: placeName(record), why: changes };
    if (docOf(docOf(body['ref'])['reversal_args'])['sha256'] !== undefined && argsDiffer(body, other, records))
      return { outcome: 'unknown', at: placeName(record), why: ['reversal_args: the arguments are sealed'] };
  }
  return { outcome: 'unchanged', at: null, why: [] };
}

/** Terms that would have been others, but for the name of the contract they are of. */
function changesIn(body: Doc, other: Contract, isRecorded: boolean): readonly string[] {
  const now = docOf(plain(termsOf(other, Buffer.alloc(32))));
  const then = docOf(plain(body['terms'] ?? {}));
  const terms = Object.keys({ ...now, ...then })
    .filter((name) => name !== 'contract_digest' && name !== 'contract_version')
    .filter((name) => !isDeepStrictEqual(now[name], then[name]));
  const isOtherClass = isRecorded && docOf(body['ref'])['reversal_class'] !== classUnder(other);
  return [...terms, ...(isOtherClass ? ['reversal_class'] : [])].sort();
}

/** Whether the way the reversal takes its arguments would have been another. */
function argsDiffer(body: Doc, other: Contract, records: readonly Accepted[]): boolean {
  const then = contractsIn(records).get(hashIn(docOf(body['terms'])['contract_digest']) ?? '');
  return (
    then === undefined ||
    !isDeepStrictEqual([then.reversal_args, then.reversal_then], [other.reversal_args, other.reversal_then])
  );
}

/** As JSON compares it: bytes as hex, what is absent left out. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_name, member: unknown) => {
      const bytes = docOf(member);
      return bytes['type'] === 'Buffer' && Array.isArray(bytes['data'])
        ? Buffer.from(bytes['data'] as number[]).toString('hex')
        : member;
    }),
  ) as unknown;
}
