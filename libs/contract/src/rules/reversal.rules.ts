// Rules of the reversal: what undoes, with which arguments, until when.
import type { Json } from '@recourse/kernel';
import { isAutomated, isUndoable, reversalCapabilityOf, windowOf } from '../class.js';
import { declaredNames, isClosed, pointerOf, requiredNames, schemaAt } from '../json-pointer.js';
import type { ContractDraft, ReversalArg } from '../shape.js';
import { CALL_TIMEOUT_MS } from '../terms.js';
import { when } from './rule.js';
import type { Finding, KnownCapabilities, Rule } from './rule.js';

/** Safety margin at the end of every window (P6), milliseconds. */
const MARGIN_MS = 2_000;

export const REVERSAL_RULES: readonly Rule[] = [
  {
    code: 'REVERSAL_CAPABILITY_MISSING',
    ids: ['A23', 'C5'],
    find: (contract) => [
      when(
        isAutomated(contract) && reversalCapabilityOf(contract) === null,
        contract.reversal_class === 'compensable' ? '/compensation_capability' : '/inverse_capability',
        `a ${contract.reversal_class ?? ''} capability names what undoes it`,
      ),
    ],
  },
  {
    code: 'REVERSAL_CAPABILITY_CONTRADICTORY',
    ids: ['A13', 'A14', 'A15'],
    find: (contract) =>
      contract.reversal_class === undefined
        ? []
        : [
            when(
              contract.reversal_class !== 'reversible' && contract.inverse_capability !== undefined,
              '/inverse_capability',
              'only a reversible capability has an inverse',
            ),
            when(
              contract.reversal_class !== 'compensable' && contract.compensation_capability !== undefined,
              '/compensation_capability',
              'only a compensable capability has a compensation',
            ),
            when(
              contract.reversal_class === 'compensable' &&
                contract.compensation_capability === contract.name &&
                contract.name !== undefined,
              '/compensation_capability',
              'the capability would compensate itself',
            ),
          ],
  },
  {
    code: 'REVERSAL_READS_ONLY',
    ids: ['A13', 'A14'],
    find: (contract, known) => {
      const reversal = targetOf(contract, known);
      return [
        when(reversal?.impact === 'read', reversalPath(contract), `${reversalCapabilityOf(contract) ?? ''} only reads`),
      ];
    },
  },
  {
    code: 'REVERSAL_ARGS_MISSING',
    ids: ['A32'],
    find: (contract) => [
      when(
        isAutomated(contract) && Object.keys(contract.reversal_args ?? {}).length === 0,
        '/reversal_args',
        'the reversal has no arguments',
      ),
    ],
  },
  {
    code: 'REVERSAL_ARG_UNREADABLE',
    ids: ['A32', 'C12'],
    find: (contract) =>
      Object.entries(contract.reversal_args ?? {}).map(([name, source]) => unreadable(contract, name, source)),
  },
  {
    code: 'REVERSAL_ARG_LACKING',
    ids: ['A32', 'C30'],
    find: (contract, known) => {
      const schema = targetOf(contract, known)?.args_schema as Json | undefined; // it came in as JSON
      const mapped = Object.keys(contract.reversal_args ?? {});
      return schema === undefined || mapped.length === 0
        ? []
        : requiredNames(schema).map((name) =>
            when(!mapped.includes(name), pointerOf(['reversal_args', name]), `the reversal requires ${name}`),
          );
    },
  },
  {
    code: 'REVERSAL_ARG_UNWANTED',
    ids: ['A32'],
    find: (contract, known) => {
      const schema = targetOf(contract, known)?.args_schema as Json | undefined; // it came in as JSON
      if (schema === undefined || !isClosed(schema)) return [];
      const taken = declaredNames(schema) ?? [];
      return Object.keys(contract.reversal_args ?? {}).map((name) =>
        when(!taken.includes(name), pointerOf(['reversal_args', name]), `the reversal takes no ${name}`),
      );
    },
  },
  {
    code: 'REVERSAL_WINDOW_MISSING',
    ids: ['A3', 'A5', 'A25'],
    find: (contract) => [
      when(isAutomated(contract) && windowOf(contract) === null, '/reversal_window_ms', 'the reversal has no window'),
    ],
  },
  {
    code: 'WINDOW_TOO_SHORT',
    ids: ['A25', 'P6'],
    find: (contract) => {
      const window = windowOf(contract);
      const least = MARGIN_MS + (contract.call_timeout_ms ?? CALL_TIMEOUT_MS);
      const binds = window === contract.reversal_window_ms ? '/reversal_window_ms' : '/expires_after_commit_ms';
      return [
        when(
          isAutomated(contract) && window !== null && window <= least,
          binds,
          `within ${window ?? 0} ms no call of ${least - MARGIN_MS} ms and the margin fit`,
        ),
      ];
    },
  },
];

/** The contract of what undoes, where it is known. */
function targetOf(contract: ContractDraft, known: KnownCapabilities): ContractDraft | undefined {
  const name = isUndoable(contract) ? reversalCapabilityOf(contract) : null;
  if (name === null) return undefined;
  return name === contract.name ? contract : known.contractOf?.(name);
}

function reversalPath({ reversal_class }: ContractDraft): string {
  return reversal_class === 'compensable' ? '/compensation_capability' : '/inverse_capability';
}

function unreadable(contract: ContractDraft, name: string, source: ReversalArg): Finding | null {
  const path = pointerOf(['reversal_args', name]);
  switch (source.from) {
    case 'args':
      return undeclared(contract.args_schema, source.path, `${path}/path`, 'args_schema');
    case 'result':
      return undeclared(contract.result_schema, source.path, `${path}/path`, 'result_schema');
    case 'prior_value':
      return when(contract.requires_prior_value_capture !== true, path, 'the prior value need not be captured');
    case 'external_ref':
      return when(contract.requires_external_handle !== true, path, 'the external handle need not be there');
    case 'constant':
      return null;
    case 'step':
      return null;
  }
}

function undeclared(
  schema: ContractDraft['args_schema'],
  pointer: string,
  path: string,
  schemaName: string,
): Finding | null {
  // A schema that is missing is its own problem. It came in as JSON.
  return when(
    schema !== undefined && schemaAt(schema as Json, pointer) === undefined,
    path,
    `${schemaName} declares no ${pointer}`,
  );
}
