// recourse erase: data of a subject, or of windows that have ended, is erased by destroying its keys.
import type { Command } from 'commander';
import { formatFields } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Act } from './options.js';

interface Options {
  readonly subject?: string;
  readonly endedBy?: string;
  readonly reason: string;
}

export function addErasures(program: Command, act: Act): void {
  program
    .command('erase')
    .description(
      'destroys the keys that seal what was recorded about a subject; hashes and chains stay, the data is gone for good',
    )
    .option('--subject <subject>', 'whose data, as its records name it, e.g. customer/7 or run/<run id>')
    .option('--ended-by <time>', 'only of retention windows that ended by this time, ISO 8601')
    .requiredOption('--reason <text>', 'why, in your words; it is kept with the destroyed keys')
    .action(
      act<Options>(async (session, { subject, endedBy, reason }) => {
        const answer = await session.service('ledger').command('/v1/erasures', {
          reason,
          ...(subject === undefined ? {} : { subject }),
          ...(endedBy === undefined ? {} : { ended_by: instantOf(endedBy) }),
          ...(session.settings.tenant === null ? {} : { tenant: session.settings.tenant }),
        });
        session.show(answer, () => formatFields(Object.entries(answer)));
      }),
    );
}

function instantOf(text: string): number {
  const instant = Date.parse(text);
  if (Number.isNaN(instant))
    throw new CliProblem('TIME_INVALID', `${text} is no time`, 'usage', {
      remedy: 'Write it as 2026-11-30T00:00:00Z.',
    });
  return instant;
}
