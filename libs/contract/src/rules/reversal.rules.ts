// Rules of the reversal: what undoes, with which arguments, until when.
import type { Json } from '@recourse/kernel';
import { adapterOf, isAutomated, isUndoable, reversalCallsOf, reversalCapabilityOf, windowOf } from '../class.js';
import type { DeclaredCall } from '../class.js';
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
              contract.reversal_then !== undefined && reversalCapabilityOf(contract) === null,
              '/reversal_then',
              'there is no first call that these could follow',
            ),
          ],
  },
  {
    code: 'REVERSAL_ADAPTER_FOREIGN',
    ids: ['A32'],
    find: (contract) => {
      const [{ capability: first }, ...then] = reversalCallsOf(contract);
      return then.map(({ capability, at }) =>
        when(
          first !== null && capability !== null && adapterOf(capability) !== adapterOf(first),
          at.capability,
          `${capability ?? ''} is not of the adapter of ${first ?? ''}`,
        ),
      );
    },
  },
  {
    code: 'REVERSAL_READS_ONLY',
    ids: ['A13', 'A14'],
    find: (contract, known) =>
      reversalCallsOf(contract).map((call) =>
        when(
          targetOf(contract, call, known)?.impact === 'read',
          call.at.capability,
          `${call.capability ?? ''} only reads`,
        ),
      ),
  },
  {
    code: 'REVERSAL_ARGS_MISSING',
    ids: ['A32'],
    find: (contract) =>
      reversalCallsOf(contract).map(({ args, at }) =>
        when(isAutomated(contract) && Object.keys(args).length === 0, at.args, 'the reversal has no arguments'),
      ),
  },
  {
    code: 'REVERSAL_ARG_UNREADABLE',
    ids: ['A32', 'C12'],
    find: (contract, known) =>
      reversalCallsOf(contract).flatMap(({ args, at }, index) =>
        Object.entries(args).map(([name, source]) =>
          unreadable({ contract, known, path: `${at.args}${pointerOf([name])}`, position: index + 1 }, source),
        ),
      ),
  },
  {
    code: 'REVERSAL_ARG_LACKING',
    ids: ['A32', 'C30'],
    find: (contract, known) =>
      reversalCallsOf(contract).flatMap((call) => {
        const schema = targetOf(contract, call, known)?.args_schema as Json | undefined; // it came in as JSON
        const mapped = Object.keys(call.args);
        return schema === undefined || mapped.length === 0
          ? []
          : requiredNames(schema).map((name) =>
              when(!mapped.includes(name), `${call.at.args}${pointerOf([name])}`, `the reversal requires ${name}`),
            );
      }),
  },
  {
    code: 'REVERSAL_ARG_UNWANTED',
    ids: ['A32'],
    find: (contract, known) =>
      reversalCallsOf(contract).flatMap((call) => {
        const schema = targetOf(contract, call, known)?.args_schema as Json | undefined; // it came in as JSON
        if (schema === undefined || !isClosed(schema)) return [];
        const taken = declaredNames(schema) ?? [];
        return Object.keys(call.args).map((name) =>
          when(!taken.includes(name), `${call.at.args}${pointerOf([name])}`, `the reversal takes no ${name}`),
        );
      }),
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
      const callsMs = (contract.call_timeout_ms ?? CALL_TIMEOUT_MS) * reversalCallsOf(contract).length;
      const least = MARGIN_MS + callsMs;
      const binds = window === contract.reversal_window_ms ? '/reversal_window_ms' : '/expires_after_commit_ms';
      return [
        when(
          isAutomated(contract) && window !== null && window <= least,
          binds,
          `within ${window ?? 0} ms no call of ${callsMs} ms and the margin fit`,
        ),
      ];
    },
  },
];

/** The contract of what a call of the reversal calls, where it is known. */
export function targetOf(
  contract: ContractDraft,
  { capability: name }: DeclaredCall,
  known: KnownCapabilities,
): ContractDraft | undefined {
  if (name === null || !isUndoable(contract)) return undefined;
  return name === contract.name ? contract : known.contractOf?.(name);
}

/** An argument: whose it is, where it stands, and of which call, from 1. */
interface Placed {
  readonly contract: ContractDraft;
  readonly known: KnownCapabilities;
  readonly path: string;
  readonly position: number;
}

function unreadable(placed: Placed, source: ReversalArg): Finding | null {
  const { contract, path } = placed;
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
    case 'call':
      return unseen(placed, source);
  }
}

/** A value that the verification of an earlier call is to have seen. */
function unseen(
  { contract, known, path, position }: Placed,
  { call, path: within = '' }: Extract<ReversalArg, { from: 'call' }>,
): Finding | null {
  if (call >= position) return when(true, path, `call ${String(call)} does not come before it`);
  const observer = reversalCallsOf(contract)[call - 1]?.verification?.verify_capability;
  const schema = observer === undefined ? undefined : known.contractOf?.(observer)?.result_schema;
  return undeclared(schema, within, path, `what ${observer ?? ''} sees`);
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
