// Decides what becomes of a contract that somebody wants to register or retire.
import { contractBody, contractDigest, reviewContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { assertNever } from '@recourse/kernel';
import { EDITOR_ROLES, EVERY_TENANT } from './contract.messages.js';
import type { Asker, ContractAnswer, ContractCommand, ContractRejection, ContractRejectionCode, ContractState, ContractVersion } from './contract.messages.js';

type Register = Extract<ContractCommand, { type: 'RegisterContract' }>;
type Retire = Extract<ContractCommand, { type: 'RetireContract' }>;

/** Answers a command with the record it makes, with what stands already, or with a coded refusal. */
export function decideContract(command: ContractCommand, state: ContractState): ContractAnswer {
  if (!EDITOR_ROLES.some((role) => command.asker.roles.includes(role))) {
    return rejected('ROLE_REQUIRED', `contracts are changed by ${EDITOR_ROLES.join(' or ')}`);
  }
  switch (command.type) {
    case 'RegisterContract': return register(command, state);
    case 'RetireContract': return retire(command, state);
    default: return assertNever(command);
  }
}

function register(command: Register, state: ContractState): ContractAnswer {
  const review = reviewContract(command.body, { has: state.isKnown });
  if (!review.ok) return rejected('CONTRACT_REFUSED', `the contract has ${review.problems.length} problems`, { problems: review.problems });
  const { contract } = review;
  if (contract.name !== command.name) return rejected('CONTRACT_NAME_MISMATCH', `the contract is about ${contract.name}, the command about ${command.name}`);
  const foreign = foreignTenant(contract.tenant ?? EVERY_TENANT, command.asker, state);
  return foreign ?? versioned(contract, command.asker, state);
}

function foreignTenant(tenant: string, asker: Asker, state: ContractState): ContractAnswer | null {
  if (tenant !== EVERY_TENANT && tenant !== asker.tenant) return rejected('TENANT_MISMATCH', `${asker.tenant} registers no contracts of ${tenant}`);
  const other = state.versions.find((version) => version.tenant !== tenant);
  return other === undefined ? null : rejected('CONTRACT_OF_ANOTHER_TENANT', `${other.name} belongs to ${other.tenant}`);
}

function versioned(contract: Contract, asker: Asker, state: ContractState): ContractAnswer {
  const latest = Math.max(0, ...state.versions.map(({ version }) => version));
  const said = state.versions.find(({ version }) => version === (contract.version ?? latest));
  if (said !== undefined && said.body === contractBody({ ...contract, version: said.version })) {
    if (!said.retired) return { kind: 'unchanged', version: shown(said) };
    if (contract.version !== undefined) return rejected('CONTRACT_RETIRED', `version ${said.version} is retired; register it anew as version ${latest + 1}`);
  }
  if (contract.version !== undefined && contract.version !== latest + 1) {
    return rejected('CONTRACT_VERSION_UNEXPECTED', `the next version is ${latest + 1}; leave version out, or set it so`, { facts: { expected: latest + 1, given: contract.version } });
  }
  return registered({ ...contract, version: latest + 1 }, asker);
}

function registered(contract: Contract & { readonly version: number }, asker: Asker): ContractAnswer {
  const body = contractBody(contract);
  const digest = contractDigest(body);
  const { name, version } = contract;
  return {
    kind: 'recorded',
    version: { name, version, digest: digest.toString('hex') },
    event: {
      type: 'ContractRegistered',
      body: { name, version, tenant: contract.tenant ?? EVERY_TENANT, digest, body, registered_by: asker.principal, command_id: asker.commandId },
    },
  };
}

function retire(command: Retire, state: ContractState): ContractAnswer {
  const standing = state.versions.find(({ version }) => version === command.version);
  if (standing === undefined) return rejected('CONTRACT_UNKNOWN', `${command.name} has no version ${command.version}`);
  if (standing.tenant !== EVERY_TENANT && standing.tenant !== command.asker.tenant) return rejected('CONTRACT_OF_ANOTHER_TENANT', `${standing.name} belongs to ${standing.tenant}`);
  if (standing.retired) return { kind: 'unchanged', version: shown(standing) };
  const { asker, name, version } = command;
  return {
    kind: 'recorded',
    version: shown(standing),
    event: { type: 'ContractRetired', body: { name, version, digest: Buffer.from(standing.digest, 'hex'), retired_by: asker.principal, command_id: asker.commandId } },
  };
}

function shown({ name, version, digest }: ContractVersion): Pick<ContractVersion, 'name' | 'version' | 'digest'> {
  return { name, version, digest };
}

function rejected(code: ContractRejectionCode, message: string, more: Partial<ContractRejection> = {}): ContractAnswer {
  return { kind: 'rejected', rejection: { code, message, ...more } };
}
