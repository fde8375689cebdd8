// Decides what becomes of a contract that somebody wants to register or retire.
//
// Boundary: a contract belongs to the tenant that it was asked for, or to the platform; what comes in is that owner's alone.
import { contractBody, looserThan, problem, reviewContract, sizeProblems } from '@recourse/contract';
import type { Contract, ContractProblem } from '@recourse/contract';
import { assertNever, isAmong, isPerson } from '@recourse/kernel';
import { EDITOR_ROLES, PLATFORM, PLATFORM_EDITOR_ROLES } from './contract.messages.js';
import type {
  Asker,
  ContractAnswer,
  ContractCommand,
  ContractRejection,
  ContractRejectionCode,
  ContractState,
  ContractVersion,
  Outcome,
  Proposal,
} from './contract.messages.js';
import { confirmed, dropped, registerOrPropose, retireOrPropose } from './registration.decisions.js';
import { told, TOLD_MAX } from './told.decisions.js';

type Register = Extract<ContractCommand, { type: 'RegisterContract' }>;
type Retire = Extract<ContractCommand, { type: 'RetireContract' }>;
type Confirm = Extract<ContractCommand, { type: 'ConfirmRegistration' }>;
type Withdraw = Extract<ContractCommand, { type: 'WithdrawRegistration' }>;

/** Answers a command with the record it makes, with what stands already, or with a coded refusal; says `toldMax` differences at the most. */
export function decideContract(command: ContractCommand, state: ContractState, toldMax = TOLD_MAX): ContractAnswer {
  return told(decided(command, state), toldMax);
}

function decided(command: ContractCommand, state: ContractState): ContractAnswer {
  const missing = roleRefusal(command.asker);
  if (missing !== null) return missing;
  switch (command.type) {
    case 'RegisterContract':
      return register(command, state);
    case 'RetireContract':
      return retire(command, state);
    case 'ConfirmRegistration':
      return confirm(command, state);
    case 'WithdrawRegistration':
      return withdraw(command, state);
    default:
      return assertNever(command);
  }
}

function register(command: Register, state: ContractState): ContractAnswer {
  const review = reviewed(command.body, state);
  if (!review.ok) return refusedFor(command.name, review.problems);
  const { contract } = review;
  if (contract.name !== command.name)
    return rejected(
      'CONTRACT_NAME_MISMATCH',
      `the contract is about ${contract.name}, the command about ${command.name}`,
    );
  const { tenant } = command.asker;
  if ((contract.tenant ?? tenant) !== tenant)
    return rejected('TENANT_MISMATCH', `${tenant} registers no contracts of ${String(contract.tenant)}`);
  const loosened = loosening(contract, state);
  return loosened ?? versioned(ownedBy(tenant, contract), command, state);
}

function reviewed(body: string, { contractOf }: ContractState): ReturnType<typeof reviewContract> {
  return reviewContract(body, { has: (name) => contractOf(name) !== undefined, contractOf });
}

function roleRefusal({ tenant, roles }: Asker): ContractAnswer | null {
  const editors: readonly string[] = tenant === PLATFORM ? PLATFORM_EDITOR_ROLES : EDITOR_ROLES;
  if (editors.some((role) => roles.includes(role))) return null;
  const whose = tenant === PLATFORM ? 'contracts of the platform' : 'contracts';
  return rejected('ROLE_REQUIRED', `${whose} are changed by ${editors.join(' or ')}`);
}

/** The body names its owner, so that a digest is of one tenant's contract alone; the platform's names none. */
function ownedBy(tenant: string, { tenant: _said, ...contract }: Contract): Contract {
  return tenant === PLATFORM ? contract : { ...contract, tenant };
}

/** A tenant may be stricter than the platform, and never looser: every field that is looser is named. */
function loosening(contract: Contract, { platform }: ContractState): ContractAnswer | null {
  const looser = platform === null ? [] : looserThan(platform, contract);
  return looser.length === 0
    ? null
    : refusedFor(
        contract.name,
        looser.map(({ path, reason }) => problem('CONTRACT_LOOSER_THAN_PLATFORM', path, reason)),
      );
}

/** Every problem, each with the contract it is about: a request may hold several. */
function refusedFor(contract: string, found: readonly ContractProblem[]): ContractAnswer {
  const problems = found.map((each) => ({ ...each, facts: { ...each.facts, contract } }));
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return rejected('CONTRACT_REFUSED', `${contract} has ${count}`, { problems });
}

function versioned(contract: Contract, { asker, waitsFor }: Register, state: ContractState): ContractAnswer {
  const latest = Math.max(0, ...state.versions.map(({ version }) => version));
  const said = state.versions.find(({ version }) => version === (contract.version ?? latest));
  if (said !== undefined && said.body === contractBody({ ...contract, version: said.version })) {
    if (!said.retired) return { kind: 'unchanged', outcome: shown(said) };
    if (contract.version !== undefined)
      return rejected(
        'CONTRACT_RETIRED',
        `version ${said.version} is retired; register it anew as version ${latest + 1}`,
      );
  }
  if (contract.version !== undefined && contract.version !== latest + 1) {
    return rejected(
      'CONTRACT_VERSION_UNEXPECTED',
      `the next version is ${latest + 1}; leave version out, or set it so`,
      { facts: { expected: latest + 1, given: contract.version } },
    );
  }
  const next = { ...contract, version: latest + 1 };
  // Its owner and its version count as well: what registers is what is confirmed, and read again.
  const large = sizeProblems(contractBody(next));
  return large.length > 0 ? refusedFor(contract.name, large) : registerOrPropose(next, asker, state, waitsFor);
}

function confirm({ asker, digest }: Confirm, state: ContractState): ContractAnswer {
  const { proposal } = state;
  if (proposal === null) return rejected('PROPOSAL_UNKNOWN', 'nothing waits for a second person');
  if (proposal.digest !== digest)
    return rejected(
      'PROPOSAL_DIFFERS',
      `version ${proposal.version} waits with digest ${proposal.digest}; look at it again`,
    );
  if (isAmong([proposal.proposed_by], asker))
    return rejected('SELF_CONFIRMATION', 'a weaker version takes two people, and this is the one who proposed it');
  if (!isPerson(asker.principal)) return rejected('CONFIRMER_NOT_A_PERSON', 'only a person confirms a weaker version');
  return (proposal.retires ? null : refusalNow(proposal, state)) ?? confirmed(proposal, asker);
}

/** What it names may stand no more since it was proposed, or otherwise, and the platform may have become stricter. */
function refusalNow({ name, body }: Proposal, state: ContractState): ContractAnswer | null {
  const review = reviewed(body, state);
  return review.ok ? loosening(review.contract, state) : refusedFor(name, review.problems);
}

/** Anybody with the role may stop what waits, who proposed it too. */
function withdraw({ asker }: Withdraw, { proposal }: ContractState): ContractAnswer {
  if (proposal === null) return rejected('PROPOSAL_UNKNOWN', 'nothing waits for a second person');
  const { name, version, digest } = proposal;
  return {
    kind: 'recorded',
    isNew: false,
    events: [dropped(proposal, 'withdrawn', asker)],
    outcome: { name, version, digest, state: 'withdrawn' },
  };
}

function retire(command: Retire, state: ContractState): ContractAnswer {
  const standing = state.versions.find(({ version }) => version === command.version);
  if (standing === undefined && state.versions.length === 0 && state.platform !== null)
    return rejected(
      'CONTRACT_OF_PLATFORM',
      `${command.name} is the platform's; ${PLATFORM_EDITOR_ROLES.join(' or ')} of all tenants retires it`,
    );
  if (standing === undefined) return rejected('CONTRACT_UNKNOWN', `${command.name} has no version ${command.version}`);
  if (standing.retired) return { kind: 'unchanged', outcome: shown(standing) };
  return retireOrPropose(standing, command.asker, state);
}

function shown({ name, version, digest, retired }: ContractVersion): Outcome {
  return { name, version, digest, state: retired ? 'retired' : 'registered' };
}

function rejected(code: ContractRejectionCode, message: string, more: Partial<ContractRejection> = {}): ContractAnswer {
  return { kind: 'rejected', rejection: { code, message, ...more } };
}
