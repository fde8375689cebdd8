// Rules of overwriting: a value that was there is written over, and the contract says so.
//
// Boundary: an author says `overwrites` true or false; where verb, schemas or reversal speak of an earlier value, saying
// nothing is refused. Whether what was said is true, the guard sees when it finds a prior value.
import type { Json } from '@recourse/kernel';
import { hasSideEffects } from '../class.js';
import { declaredNames } from '../json-pointer.js';
import type { ContractDraft } from '../shape.js';
import { when } from './rule.js';
import type { Rule } from './rule.js';

/** Verbs that put a value where one was. */
const OVERWRITING_VERBS: readonly string[] = [
  'set',
  'update',
  'replace',
  'overwrite',
  'put',
  'patch',
  'edit',
  'change',
  'modify',
  'rename',
  'write',
  'upsert',
  'assign',
  'reassign',
  'reset',
];

/** Members that hold the value before, or compare with it: `previous_value`, `old_label`, `if_match`. */
const EARLIER_VALUE =
  /^(?:(?:previous|prior|old|former|replaced|overwritten)(?:_.+)?|if_match|if_unmodified_since|expected_(?:version|etag))$/;

export const OVERWRITE_RULES: readonly Rule[] = [
  {
    code: 'OVERWRITE_UNDECLARED',
    ids: ['A9'],
    find: (contract) => {
      const sign = contract.overwrites === undefined && hasSideEffects(contract) ? signOf(contract) : null;
      return [when(sign !== null, '/overwrites', `${sign ?? ''}, and nothing says whether it overwrites`)];
    },
  },
  {
    code: 'OVERWRITE_WITHOUT_PRIOR_VALUE',
    ids: ['A9', 'A26'],
    find: (contract) => [
      when(
        contract.reversal_class === 'reversible' &&
          contract.overwrites === true &&
          contract.requires_prior_value_capture !== true,
        '/requires_prior_value_capture',
        'an overwrite is not reversible without its prior value',
      ),
    ],
  },
];

/** What of a contract speaks of a value that was there before; null when nothing does. */
function signOf(contract: ContractDraft): string | null {
  const verb = /\.([a-z0-9]+)/.exec(contract.name ?? '')?.[1] ?? '';
  if (OVERWRITING_VERBS.includes(verb)) return `${contract.name ?? ''} sounds like an overwrite`;
  if (contract.requires_prior_value_capture === true) return 'a prior value is captured';
  const named = [...namesIn(contract.args_schema), ...namesIn(contract.result_schema)].find((name) =>
    EARLIER_VALUE.test(snakeCase(name)),
  );
  return named === undefined ? null : `its schemas speak of ${named}`;
}

function namesIn(schema: ContractDraft['args_schema']): readonly string[] {
  return schema === undefined ? [] : (declaredNames(schema as Json) ?? []); // it came in as JSON
}

function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
