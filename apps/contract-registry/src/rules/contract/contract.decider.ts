// Decides what becomes of a contract that somebody wants to register or retire.
import { contractBody, reviewContract } from '@recourse/contract';
import type { Contract, ContractProblem } from '@recourse/contract';
import { assertNever, isAmong, isPerson } from '@recourse/kernel';
import { EDITOR_ROLES, EVERY_TENANT } from './contract.messages.js';
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
import { confirmed, dropped, registerOrPropose } from './registration.decisions.js';

type Register = Extract<ContractCommand, { type: 'RegisterContract' }>;
type Retire = Extract<ContractCommand, { type: 'RetireContract' }>;
type Confirm = Extract<ContractCommand, { type: 'ConfirmRegistration' }>;
type Withdraw = Extract<ContractCommand, { type: 'WithdrawRegistration' }>;

/** Answers a command with the record it makes, with what stands already, or with a coded refusal. */
export function decideContract(command: ContractCommand, state: ContractState): ContractAnswer {
  if (!EDITOR_ROLES.some((role) => command.asker.roles.includes(role))) {
    return rejected('ROLE_REQUIRED', `contracts are changed by ${EDITOR_ROLES.join(' or ')}`);
  }
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
  const review = reviewContract(command.body, {
    has: (name) => state.contractOf(name) !== undefined,
    contractOf: state.contractOf,
  });
  if (!review.ok) return refusedFor(command.name, review.problems);
  const { contract } = review;
  if (contract.name !== command.name)
    return rejected(
      'CONTRACT_NAME_MISMATCH',
      `the contract is about ${contract.name}, the command about ${command.name}`,
    );
  const foreign = foreignTenant(contract.tenant ?? EVERY_TENANT, command.asker, state);
  return foreign ?? versioned(contract, command.asker, state);
}

/** Every problem, each with the contract it is about: a request may hold several. */
function refusedFor(contract: string, found: readonly ContractProblem[]): ContractAnswer {
  const problems = found.map((each) => ({ ...each, facts: { ...each.facts, contract } }));
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return rejected('CONTRACT_REFUSED', `${contract} has ${count}`, { problems });
}

function foreignTenant(tenant: string, asker: Asker, state: ContractState): ContractAnswer | null {
  if (tenant !== EVERY_TENANT && tenant !== asker.tenant)
    return rejected('TENANT_MISMATCH', `${asker.tenant} registers no contracts of ${tenant}`);
  const other = state.versions.find((version) => version.tenant !== tenant);
  return other === undefined
    ? null
    : rejected('CONTRACT_OF_ANOTHER_TENANT', `${other.name} belongs to ${other.tenant}`);
}

function versioned(contract: Contract, asker: Asker, state: ContractState): ContractAnswer {
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
  return registerOrPropose({ ...contract, version: latest + 1 }, asker, state);
}

function confirm({ asker, digest }: Confirm, { proposal }: ContractState): ContractAnswer {
  if (proposal === null) return rejected('PROPOSAL_UNKNOWN', 'nothing waits for a second person');
  const foreign = foreignProposal(proposal, asker);
  if (foreign !== null) return foreign;
  if (proposal.digest !== digest)
    return rejected(
      'PROPOSAL_DIFFERS',
      `version ${proposal.version} waits with digest ${proposal.digest}; look at it again`,
    );
  if (isAmong([proposal.proposed_by], asker))
    return rejected('SELF_CONFIRMATION', 'a weaker version takes two people, and this is the one who proposed it');
  if (!isPerson(asker.principal)) return rejected('CONFIRMER_NOT_A_PERSON', 'only a person confirms a weaker version');
  return confirmed(proposal, asker);
}

/** Anybody with the role may stop what waits, who proposed it too. */
function withdraw({ asker }: Withdraw, { proposal }: ContractState): ContractAnswer {
  if (proposal === null) return rejected('PROPOSAL_UNKNOWN', 'nothing waits for a second person');
  const { name, version, digest } = proposal;
  return (
    foreignProposal(proposal, asker) ?? {
      kind: 'recorded',
      isNew: false,
      events: [dropped(proposal, 'withdrawn', asker)],
      outcome: { name, version, digest, state: 'withdrawn' },
    }
  );
}

function foreignProposal({ name, tenant }: Proposal, asker: Asker): ContractAnswer | null {
  return tenant === EVERY_TENANT || tenant === asker.tenant
    ? null
    : rejected('CONTRACT_OF_ANOTHER_TENANT', `${name} belongs to ${tenant}`);
}

function retire(command: Retire, state: ContractState): ContractAnswer {
  const standing = state.versions.find(({ version }) => version === command.version);
  if (standing === undefined) return rejected('CONTRACT_UNKNOWN', `${command.name} has no version ${command.version}`);
  if (standing.tenant !== EVERY_TENANT && standing.tenant !== command.asker.tenant)
    return rejected('CONTRACT_OF_ANOTHER_TENANT', `${standing.name} belongs to ${standing.tenant}`);
  if (standing.retired) return { kind: 'unchanged', outcome: shown(standing) };
  const { asker, name, version } = command;
  return {
    kind: 'recorded',
    isNew: false,
    outcome: { ...shown(standing), state: 'retired' },
    events: [
      {
        type: 'ContractRetired',
        body: {
          name,
          version,
          digest: Buffer.from(standing.digest, 'hex'),
          retired_by: asker.principal,
          command_id: asker.commandId,
        },
      },
    ],
  };
}

function shown({ name, version, digest, retired }: ContractVersion): Outcome {
  return { name, version, digest, state: retired ? 'retired' : 'registered' };
}

function rejected(code: ContractRejectionCode, message: string, more: Partial<ContractRejection> = {}): ContractAnswer {
  return { kind: 'rejected', rejection: { code, message, ...more } };
}
