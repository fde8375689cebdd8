// Decides whether a version registers at once or waits for a second person: weakening takes two, and so does another tool under
// the same name (docs/design/contracts.md), and what is sound only beside a weaker version.
import {
  contractBody,
  contractDigest,
  diffContracts,
  isWeakening,
  parseContract,
  toolFingerprint,
} from '@recourse/contract';
import type { Contract, Difference } from '@recourse/contract';
import { InvariantViolation } from '@recourse/kernel';
import { PLATFORM } from './contract.messages.js';
import type {
  Asker,
  ContractAnswer,
  ContractEvent,
  ContractState,
  ContractVersion,
  Proposal,
} from './contract.messages.js';

/** How long a proposal waits for its second person before it lapses: a week holds every weekend and most absences. Milliseconds. */
const PROPOSAL_LIFETIME_MS = 7 * 24 * 3_600_000;

type Versioned = Contract & { readonly version: number };

/** Registers a version, or proposes it where it is weaker than the one before, about another tool, or in need of what waits. What waited before is dropped: it was compared with another. */
export function registerOrPropose(
  contract: Versioned,
  asker: Asker,
  state: ContractState,
  waitsFor: readonly string[] = [],
): ContractAnswer {
  const before = newestOf(state.versions);
  const differences = before === undefined ? [] : diffContracts(parsed(before.body), contract);
  const body = contractBody(contract);
  const isSameProposal = state.proposal?.digest === contractDigest(body).toString('hex');
  const reasons = [...needing(waitsFor), ...otherTool(before, contract), ...weakeningsIn(differences)];
  if (state.proposal !== null && isSameProposal && reasons.length > 0)
    return { kind: 'unchanged', outcome: proposedOutcome(state.proposal, differences) };
  const superseded = state.proposal === null ? [] : [dropped(state.proposal, 'superseded', asker)];
  return reasons.length > 0
    ? proposed({ contract, body, differences }, reasons, { asker, now: state.now }, superseded)
    : registered({ contract, body, differences }, asker, superseded);
}

/** The record of a version that a second person confirmed. */
export function confirmed(proposal: Proposal, confirmer: Asker): ContractAnswer {
  const { name, version, digest, body, tenant, proposed_by, retires } = proposal;
  if (retires) return retired(proposal, { by: proposed_by, confirmer }, confirmer.commandId);
  return {
    kind: 'recorded',
    isNew: true,
    outcome: { name, version, digest, state: 'registered' },
    events: [
      {
        type: 'ContractRegistered',
        body: {
          name,
          version,
          tenant,
          digest: Buffer.from(digest, 'hex'),
          body,
          registered_by: proposed_by,
          command_id: confirmer.commandId,
          confirmed_by: confirmer.principal,
        },
      },
    ],
  };
}

interface Loosened {
  /** Of a tenant's own to the platform's; empty for the platform's. */
  readonly differences: readonly Difference[];
  readonly reasons: readonly string[];
}

/** What the end of a version loosens; null where it loosens nothing. Only the newest version binds. */
function retirementLoosens(standing: ContractVersion, { versions, platform }: ContractState): Loosened | null {
  if (newestOf(versions)?.version !== standing.version) return null;
  // Tenants have their own in other rows; any of them may be looser.
  if (standing.tenant === PLATFORM) return { differences: [], reasons: [OF_PLATFORM] };
  if (platform === null) return null;
  const differences = diffContracts(parsed(standing.body), platform);
  return isWeakening(differences) ? { differences, reasons: weakeningsIn(differences) } : null;
}

const OF_PLATFORM = ": it is the platform's, and what tenants have of their own binds them without it, however loose";

/** Retires a version, or proposes that where a looser one would bind in its place: that takes two people, like a weaker version. */
export function retireOrPropose(standing: ContractVersion, asker: Asker, state: ContractState): ContractAnswer {
  const loosened = retirementLoosens(standing, state);
  if (loosened === null) return retired(standing, { by: asker.principal, confirmer: null }, asker.commandId);
  const { differences, reasons } = loosened;
  const { proposal: before, now } = state;
  if (before !== null && before.retires && before.digest === standing.digest)
    return { kind: 'unchanged', outcome: proposedOutcome(before, differences) };
  const { name, version, tenant, body } = standing;
  const proposal = {
    name,
    version,
    tenant,
    body,
    weakenings: reasons,
    proposed_by: asker.principal,
    expires_at: now + PROPOSAL_LIFETIME_MS,
    retires: true,
  };
  const digest = Buffer.from(standing.digest, 'hex');
  return {
    kind: 'recorded',
    isNew: true,
    events: [
      ...(before === null ? [] : [dropped(before, 'superseded', asker)]),
      { type: 'RegistrationProposed', body: { ...proposal, digest, command_id: asker.commandId } },
    ],
    outcome: proposedOutcome({ ...proposal, digest: standing.digest }, differences),
  };
}

function retired(
  { name, version, tenant, digest }: Pick<ContractVersion, 'name' | 'version' | 'tenant' | 'digest'>,
  { by, confirmer }: { readonly by: string; readonly confirmer: Asker | null },
  commandId: string,
): ContractAnswer {
  const event: ContractEvent = {
    type: 'ContractRetired',
    body: {
      name,
      version,
      tenant,
      digest: Buffer.from(digest, 'hex'),
      retired_by: by,
      command_id: commandId,
      confirmed_by: confirmer?.principal ?? null,
    },
  };
  return { kind: 'recorded', isNew: false, events: [event], outcome: { name, version, digest, state: 'retired' } };
}

/** The record of a proposal that did not register. `by` is null when its time was over. */
export function dropped(
  { name, version, tenant, digest }: Pick<Proposal, 'name' | 'version' | 'tenant' | 'digest'>,
  cause: 'withdrawn' | 'lapsed' | 'superseded',
  by: Asker | null,
): ContractEvent {
  return {
    type: 'RegistrationDropped',
    body: {
      name,
      version,
      tenant,
      digest: Buffer.from(digest, 'hex'),
      cause,
      dropped_by: by?.principal ?? null,
      command_id: by?.commandId ?? null,
    },
  };
}

interface Compared {
  readonly contract: Versioned;
  readonly body: string;
  readonly differences: readonly Difference[];
}

function registered(
  { contract, body, differences }: Compared,
  asker: Asker,
  before: readonly ContractEvent[],
): ContractAnswer {
  const digest = contractDigest(body);
  const { name, version } = contract;
  const event: ContractEvent = {
    type: 'ContractRegistered',
    body: {
      name,
      version,
      tenant: contract.tenant ?? PLATFORM,
      digest,
      body,
      registered_by: asker.principal,
      command_id: asker.commandId,
      confirmed_by: null,
    },
  };
  return {
    kind: 'recorded',
    isNew: true,
    events: [...before, event],
    outcome: {
      name,
      version,
      digest: digest.toString('hex'),
      state: 'registered',
      ...(differences.length === 0 ? {} : { differences }),
    },
  };
}

function weakeningsIn(differences: readonly Difference[]): readonly string[] {
  return differences.filter(({ kind }) => kind === 'weakening').map(({ path, reason }) => `${path}: ${reason}`);
}

/** First of the reasons, of which the last may not be told. */
function needing(waitsFor: readonly string[]): readonly string[] {
  return waitsFor.length === 0 ? [] : [`it is sound only beside what waits with it: ${waitsFor.join(', ')}`];
}

/** A tool whose fingerprint changed is another tool, however alike it is undone: somebody else looks at it again (D7). */
function otherTool(before: ContractVersion | undefined, contract: Contract): readonly string[] {
  const approved = before === undefined ? null : toolFingerprint(parsed(before.body));
  const fingerprint = toolFingerprint(contract);
  return approved === null || approved === fingerprint
    ? []
    : [`the tool is another: its fingerprint is ${fingerprint}, approved is ${approved}`];
}

function proposed(
  { contract, body, differences }: Compared,
  weakenings: readonly string[],
  { asker, now }: { readonly asker: Asker; readonly now: number },
  before: readonly ContractEvent[],
): ContractAnswer {
  const digest = contractDigest(body);
  const { name, version } = contract;
  const proposal = {
    name,
    version,
    tenant: contract.tenant ?? PLATFORM,
    body,
    weakenings,
    proposed_by: asker.principal,
    expires_at: now + PROPOSAL_LIFETIME_MS,
    retires: false,
  };
  return {
    kind: 'recorded',
    isNew: true,
    events: [...before, { type: 'RegistrationProposed', body: { ...proposal, digest, command_id: asker.commandId } }],
    outcome: proposedOutcome({ ...proposal, digest: digest.toString('hex') }, differences),
  };
}

function proposedOutcome(
  { name, version, digest, expires_at }: Proposal,
  differences: readonly Difference[],
): Extract<ContractAnswer, { kind: 'unchanged' }>['outcome'] {
  return { name, version, digest, state: 'proposed', differences, expires_at };
}

/** The newest version, retired or not: it alone binds, and retiring it must not be a way around the second person. */
export function newestOf(versions: readonly ContractVersion[]): ContractVersion | undefined {
  return [...versions].sort((a, b) => b.version - a.version)[0];
}

/** A body that registered, or waits to. */
export function parsed(body: string): Contract {
  const read = parseContract(body);
  if (!read.ok)
    throw new InvariantViolation('registered contracts parse', read.problems.map(({ code }) => code).join(', '));
  return read.contract;
}
