// What the registry says of a call before it is made: kill switches, the agent's charter, the admission predicates of policy bundles.
//
// Boundary: asks the entries and judges; what an objection means is the guard's.
//
// Invariants
//   V1. A switch comes first, then the charter, then admission; the first objection ends it.
//   V2. What cannot be read objects: who does not know whether a switch stands does not act (P14).
import { admissionVerdict, chartersVerdict, intentVerdict, switchVerdict, valueOf } from '@recourse/contract';
import type { Verdict } from '@recourse/contract';
import { personKey } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import type { Entries, EntriesAnswer, RegisteredEntry } from '../entries/entries.port.js';
import { standingNamed } from '../entries/named.js';
import type { Action } from '../producer/producer.js';
import type { GuardedCall, GuardOptions, GuardTroubleCode } from './guard.messages.js';
import { textOf } from './objections.js';

export interface Objection {
  readonly code: GuardTroubleCode;
  readonly reason: string;
}

/** What the registry and the options object to; null when nothing. */
export async function governed(call: GuardedCall, action: Action, options: GuardOptions): Promise<Objection | null> {
  const given = options.charter === undefined ? null : objectionOf(intentVerdict(options.charter, action.capability));
  if (given !== null || options.entries === undefined) return given;
  const { tenant, agentId: agent, capability } = action;
  const switches = await read(options.entries, 'kill_switch', tenant);
  if ('code' in switches) return switches;
  const isRecovery = call.recovery !== undefined;
  const killed = objectionOf(switchVerdict(switches, { tenant, agent, capability, isRecovery }));
  if (killed !== null) return killed;
  const charters = await read(options.entries, 'agent_charter', tenant);
  if ('code' in charters) return charters;
  const theirs = charters.filter(({ entry }) => personKey(entry.agent) === personKey(agent));
  const intent = objectionOf(chartersVerdict(theirs, capability));
  return intent ?? (await admitted(call, action, options, options.entries));
}

/** Every bundle named must admit. A recovery was admitted as one, before it came here. */
async function admitted(
  call: GuardedCall,
  action: Action,
  { policyBundles = [], contract }: GuardOptions,
  entries: Entries,
): Promise<Objection | null> {
  if (policyBundles.length === 0 || call.recovery !== undefined) return null;
  const bundles = await read(entries, 'policy_bundle', action.tenant);
  if ('code' in bundles) return bundles;
  const facts = { gate: gateOf(call, action, valueOf(contract, action.args)), state: call.state ?? {} };
  for (const name of policyBundles) {
    const bundle = standingNamed('policy_bundle', bundles, { tenant: action.tenant, name })?.entry;
    const objection =
      bundle === undefined
        ? ({ code: 'POLICY_UNKNOWN', reason: `no policy bundle ${name} is registered` } as const)
        : objectionOf(admissionVerdict(bundle, facts));
    if (objection !== null) return objection;
  }
  return null;
}

/** Gate inputs of the caller, under what is known of the call itself. */
function gateOf(
  { gate }: GuardedCall,
  { tenant, runId, agentId, initiator, capability, subjectRef, args }: Action,
  value: { readonly amount_minor: number; readonly currency: string } | null,
): Json {
  // Neither null nor a list, so its members have names.
  const given =
    gate !== undefined && gate !== null && typeof gate === 'object' && !Array.isArray(gate)
      ? (gate as Readonly<Record<string, Json>>)
      : {};
  const known = {
    tenant,
    run_id: runId,
    agent_id: agentId,
    initiator,
    capability,
    subject_ref: subjectRef,
    args,
    value: value === null ? null : { ...value },
  };
  return { ...given, ...known };
}

async function read<Kind extends EntryKind>(
  entries: Entries,
  kind: Kind,
  tenant: string,
): Promise<readonly RegisteredEntry<Kind>[] | Objection> {
  const answer = await standing(entries, kind, tenant);
  if (answer.kind === 'read') return answer.entries;
  const { cause } = answer;
  if (isForeign(cause))
    return { code: 'TENANT_FOREIGN', reason: `the token speaks for another tenant than ${tenant}: ${textOf(cause)}` };
  return { code: 'REGISTRY_UNAVAILABLE', reason: `nobody knows which ${kind} stands: ${textOf(cause)}` };
}

/** A port that throws in spite of its word says nothing: what the guard reserved and staged is given back all the same. */
async function standing<Kind extends EntryKind>(
  entries: Entries,
  kind: Kind,
  tenant: string,
): Promise<EntriesAnswer<Kind>> {
  try {
    return await entries.standing(kind, tenant);
  } catch (cause) {
    return { kind: 'unavailable', cause };
  }
}

/** Did the registry refuse to answer for the tenant? By its code: who guards is no client of services. */
function isForeign(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'TENANT_FOREIGN';
}

function objectionOf(verdict: Verdict): Objection | null {
  if (verdict.admitted) return null;
  switch (verdict.code) {
    case 'KILLED':
      return { code: 'KILL_SWITCH', reason: verdict.reason };
    case 'INTENT_DENIED':
    case 'INTENT_NOT_ALLOWED':
    case 'POLICY_REFUSED':
    case 'POLICY_UNDECIDED':
      return { code: verdict.code, reason: verdict.reason };
    // Verdicts on context: nothing here gives them.
    case 'SOURCE_UNKNOWN':
    case 'EVIDENCE_STALE':
      return { code: 'POLICY_UNDECIDED', reason: verdict.reason };
  }
}
