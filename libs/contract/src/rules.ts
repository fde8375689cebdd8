// Rules: what the fields of a contract must say together before it binds anybody (docs/design/contracts.md).
//
// Each rule reads what is there and lists its problems; none stops another, so an author sees all of them at once.
import { readContract, sizeProblems } from './body.js';
import type { ParsedContract } from './body.js';
import { problem } from './problems.js';
import type { ContractProblem } from './problems.js';
import { CLASS_RULES } from './rules/class.rules.js';
import { GOVERNANCE_RULES } from './rules/governance.rules.js';
import { OBSERVATION_RULES } from './rules/observation.rules.js';
import { OVERWRITE_RULES } from './rules/overwrite.rules.js';
import { REVERSAL_RULES } from './rules/reversal.rules.js';
import type { KnownCapabilities, Rule } from './rules/rule.js';
import type { Contract, ContractDraft } from './shape.js';

/** Every rule of meaning; problems of shape come from the schema of shape.ts. */
export const CONTRACT_RULES: readonly Rule[] = [
  ...CLASS_RULES,
  ...OVERWRITE_RULES,
  ...REVERSAL_RULES,
  ...GOVERNANCE_RULES,
  ...OBSERVATION_RULES,
];

/** Lists what is wrong with a contract of sound shape. */
export function checkContract(contract: Contract, known: KnownCapabilities): readonly ContractProblem[] {
  return brokenRules(contract, known);
}

/** Reads and checks a contract: problems of shape and of meaning in one list. */
export function reviewContract(body: string, known: KnownCapabilities): ParsedContract {
  const read = readContract(body);
  const named = new Set(read.problems.map((each) => topOf(each.path)));
  // A field whose shape is wrong is already in the list; a rule that misses it would only repeat that.
  const broken = brokenRules(read.draft, known).filter(
    (each) => read.problems.length === 0 || !named.has(topOf(each.path)),
  );
  const problems = [
    ...sizeProblems(body),
    ...read.problems,
    ...(read.problems[0]?.code === 'CONTRACT_NOT_JSON' ? [] : broken),
  ];
  return problems.length === 0 ? { ok: true, contract: read.draft as Contract } : { ok: false, problems };
}

function brokenRules(contract: ContractDraft, known: KnownCapabilities): readonly ContractProblem[] {
  return CONTRACT_RULES.flatMap(({ code, find }) =>
    find(contract, known)
      .filter((each) => each !== null)
      .map(({ path, what }) => problem(code, path, what)),
  );
}

function topOf(path: string | undefined): string {
  return (path ?? '').split('/')[1] ?? '';
}
