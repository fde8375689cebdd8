// The calls of runs, read from the ledger or from a dump of its log: one call is one effect that the ledger has on record.
import { docOf } from '@recourse/sdk';
import type { Doc, EdgeClient } from '@recourse/sdk';
import type { Json } from '@recourse/kernel';
import type { Accepted } from '../audit/accepted.js';
import { CliProblem } from '../problem.js';
import type { Call } from './trajectory.decisions.js';

export const MUTATIONS_LOG = 'recourse.mutations';
export const CONTRACTS_LOG = 'recourse.contracts';
/** Calls of one run that are graded: matching is quadratic, and no suite means a run of more. */
export const CALLS_MAX = 5_000;
const ALL = '*';
const NEVER = Number.MAX_SAFE_INTEGER;

/** Calls of a run, in the order in which the ledger heard of them. Errors: CliProblem(RUN_TOO_LONG, TENANT_AMBIGUOUS), those of the edge. */
export async function callsFromLedger(
  ledger: EdgeClient,
  run: string,
  tenant: string | null,
): Promise<readonly Call[]> {
  const { items, more } = await ledger.list('/v1/mutations', { run_id: run, tenant }, CALLS_MAX);
  ofOneTenant(
    run,
    items.map(({ execution }) => execution),
  );
  if (more) throw tooLong(run);
  const place = (row: Doc): readonly [number, number] => [numberOf(row['created_at']), numberOf(row['recorded_seq'])];
  return items
    .toSorted((one, other) => {
      const [[a, b], [c, d]] = [place(one), place(other)];
      return a - c || b - d || (String(one['mutation_id']) < String(other['mutation_id']) ? -1 : 1);
    })
    .map((row) => {
      const { encoding, body } = docOf(docOf(row['execution'])['args']);
      // Bytes that stayed sealed come as hex, and erased ones as the same: arguments are an object.
      const isReadable = encoding === 'plain' || (typeof body === 'object' && body !== null);
      return {
        tool: String(row['capability']),
        args: isReadable ? (body as Json) : null, // a body was JSON before it was in this answer
        is_readable: isReadable,
        state: String(row['execution_state']),
        mutation_id: String(row['mutation_id']),
      };
    });
}

/** The same from accepted records of the ledger's log. Sealed arguments stay unreadable: a dump holds no keys. Errors: CliProblem(RUN_TOO_LONG, TENANT_AMBIGUOUS). */
export function callsFromLog(records: readonly Accepted[], run: string, tenant: string | null): readonly Call[] {
  const calls = new Map<string, Call>();
  const executions: unknown[] = [];
  for (const { log, type, body: doc } of records) {
    if (log !== MUTATIONS_LOG) continue;
    const body = docOf(doc);
    const id = String(body['mutation_id']);
    const known = calls.get(id);
    const execution = docOf(body['execution']);
    const isOfRun = execution['run_id'] === run && isOf(tenant, execution['tenant']);
    if ((type === 'MutationPlanned' || type === 'MutationRecorded') && isOfRun) {
      executions.push(execution);
      calls.set(id, {
        ...argsOf(execution['args']),
        tool: String(execution['capability']),
        state: stateOf(type, body),
        mutation_id: id,
      });
    } else if (known !== undefined && type === 'ExecutionOverdue')
      calls.set(id, { ...known, state: stateOf(type, body) });
  }
  ofOneTenant(run, executions);
  if (calls.size > CALLS_MAX) throw tooLong(run);
  return [...calls.values()];
}

/** Ids are chosen by whoever writes: a run of that name in another tenant is another run. Errors: CliProblem(TENANT_AMBIGUOUS). */
function ofOneTenant(run: string, executions: readonly unknown[]): void {
  const tenants = new Set(executions.map((one) => docOf(one)['tenant']).filter((one) => typeof one === 'string'));
  if (tenants.size > 1)
    throw new CliProblem(
      'TENANT_AMBIGUOUS',
      `several tenants have a run ${run}: ${[...tenants].sort().join(', ')}`,
      'usage',
      {
        remedy: 'Name whose run it is with --tenant <tenant>.',
      },
    );
}

/** Null: whatever is there is meant. */
function isOf(tenant: string | null, owner: unknown): boolean {
  return tenant === null || tenant === ALL || owner === tenant;
}

/** Capabilities that contracts of a dump are about that bind the tenant, retired ones too, and those that were ever called in it. */
export function capabilitiesInLog(records: readonly Accepted[], tenant: string | null): readonly string[] {
  const names = records.map(({ log, type, body }) => {
    const doc = docOf(body);
    if (log === CONTRACTS_LOG)
      return type === 'ContractRegistered' && (doc['tenant'] === ALL || isOf(tenant, doc['tenant']))
        ? doc['name']
        : null;
    const execution = docOf(doc['execution']);
    return isOf(tenant, execution['tenant']) ? execution['capability'] : null;
  });
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}

function stateOf(type: string, body: Doc): string {
  return type === 'MutationPlanned' ? 'planned' : String(body['execution_state']);
}

function argsOf(payload: unknown): Pick<Call, 'args' | 'is_readable'> {
  const { encoding, body } = docOf(payload);
  if (encoding !== 'plain' || !Buffer.isBuffer(body)) return { args: null, is_readable: false };
  try {
    return { args: JSON.parse(body.toString('utf8')) as Json, is_readable: true }; // what JSON.parse gives is JSON
  } catch {
    return { args: null, is_readable: false };
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : NEVER;
}

function tooLong(run: string): CliProblem {
  return new CliProblem('RUN_TOO_LONG', `${run} has more than ${String(CALLS_MAX)} calls`, 'usage', {
    remedy: 'Grade shorter runs: an eval is about one task.',
  });
}
