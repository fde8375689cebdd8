// recourse budgets open | move
import type { Command } from 'commander';
import { formatFields } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { epochMs, IDEMPOTENCY_KEY } from './options.js';
import type { Act } from './options.js';

/** A whole number of minor units. */
const MINOR = /^\d{1,15}$/;

export function addCeilings(budgets: Command, act: Act): void {
  addOpen(budgets, act);
  addMove(budgets, act);
}

function addOpen(budgets: Command, act: Act): void {
  placed(budgets.command('open').description('sets the ceiling of a run, an agent or a tenant, once'))
    .option('--refunds <refunds>', 'net: a verified compensation frees it; gross: nothing does', 'net')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Ceiling>(async (session, { scopeId, ceiling, idempotencyKey, ...asked }) => {
        const body = {
          ...asked,
          ...ofTenant(session, asked, scopeId),
          scope_id: scopeId,
          ceiling_minor: minorOf(ceiling),
        };
        const answer = await session.service('budgets').command('/v1/budgets', body, idempotencyKey);
        session.show(answer, () => formatFields(Object.entries(answer)));
      }),
    );
}

/** Raises or lowers a ceiling: one way needs a second person, and the answer says which. */
function addMove(budgets: Command, act: Act): void {
  placed(
    budgets.command('move').description('lowers a ceiling at once, or proposes to raise it: another person decides'),
  )
    .option(
      '--until <instant>',
      'when it falls back to what it was, such as 2030-05-02T00:00:00Z, or epoch milliseconds; for good without it',
      epochMs,
    )
    .requiredOption('--reason <text>', 'why')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Ceiling & { until?: number; reason: string }>(
        async (session, { scopeId, ceiling, until = null, idempotencyKey, ...asked }) => {
          const body = {
            ...asked,
            ...ofTenant(session, asked, scopeId),
            scope_id: scopeId,
            ceiling_minor: minorOf(ceiling),
            until,
          };
          const answer = await session.service('budgets').command('/v1/budgets/move', body, idempotencyKey);
          session.show(answer, () => formatFields(Object.entries(answer)));
        },
      ),
    );
}

/** Whose ceiling it is: a token for all tenants does not say; the platform's is over the tenant that it names. */
function ofTenant(
  { tenant }: Session,
  { scope }: Pick<Ceiling, 'scope'>,
  scopeId: string,
): { readonly tenant?: string } {
  if (tenant !== null && tenant !== '*') return { tenant };
  return scope === 'platform' ? { tenant: scopeId } : {};
}

/** Which ceiling, and what it is to be. */
function placed(command: Command): Command {
  return command
    .requiredOption(
      '--scope <scope>',
      'run, agent, tenant, or platform: over the tenant, by an administrator of all tenants',
    )
    .requiredOption('--scope-id <id>', 'which run, agent or tenant')
    .requiredOption('--ceiling <minor>', 'minor units: 500000 for 5000.00, 1000 for one message or commitment')
    .requiredOption('--currency <unit>', 'ISO 4217, comms, commitments or exposure')
    .option('--measure <measure>', 'debt, or value for what is moved', 'debt')
    .option('--window <window>', 'life, hour or day', 'life');
}

function minorOf(text: string): number {
  if (MINOR.test(text)) return Number(text);
  throw new CliProblem('AMOUNT_INVALID', `${text} is no whole number of minor units`, 'usage', {
    remedy: 'Give minor units without a point: 500000 for 5000.00.',
  });
}

interface Ceiling {
  readonly scope: string;
  readonly scopeId: string;
  readonly ceiling: string;
  readonly currency: string;
  readonly measure: string;
  readonly window: string;
  readonly refunds?: string;
  readonly idempotencyKey?: string;
}
