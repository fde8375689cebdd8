import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'a23-weakening-by-one',
    requirement: 'A23',
    spec: 'apps/contract-registry/src/contracts.proposals.unit.spec.ts',
    test: 'a weaker version, straight waits for a second person, and says what makes it weaker',
    file: 'apps/contract-registry/src/rules/contract/registration.decisions.ts',
    find: 'return isWeakening(differences)',
    replace: 'return differences.length > 99',
  },
  {
    id: 'a68-same-person-confirms',
    requirement: 'A68',
    spec: 'apps/contract-registry/src/contracts.proposals.unit.spec.ts',
    test: 'a weaker version, rebuilt before every step is not confirmed by who proposed it, as " Dana "',
    file: 'apps/contract-registry/src/rules/contract/contract.decider.ts',
    find: 'if (isSamePerson(proposal.proposed_by, asker.principal))',
    replace: 'if (proposal.proposed_by === asker.principal)',
  },
  {
    id: 'e17-hundred-and-first',
    requirement: 'E17',
    spec: 'apps/contract-registry/src/entries.unit.spec.ts',
    test: 'an entry of the registry, straight is refused as a subscription beyond what a rollback can wait for, until one is retired',
    file: 'apps/contract-registry/src/rules/entry/entry.decider.ts',
    find: "if (command.type === 'RegisterEntry' && kind === 'subscription' && others >= SUBSCRIPTIONS_MAX)",
    replace: "if (command.type === 'RegisterEntry' && kind === 'subscription' && others > SUBSCRIPTIONS_MAX * 2)",
  },
];
