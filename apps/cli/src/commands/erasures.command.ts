// recourse erase: data of a subject, or of windows that have ended, is erased by destroying its keys.
import type { Command } from 'commander';
import { formatFields } from '../output/table.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { instantIn } from './options.js';
import type { Act } from './options.js';

interface Options {
  readonly subject?: string;
  readonly endedBy?: string;
  readonly reason: string;
  readonly yes?: boolean;
}

export function addErasures(program: Command, act: Act): void {
  program
    .command('erase')
    .description(
      'destroys the keys that seal what was recorded about a subject; hashes and chains stay, the data is gone for good',
    )
    .option('--subject <subject>', 'whose data, as its records name it, e.g. customer/7 or run/<run id>')
    .option('--ended-by <time>', 'only of retention windows that ended by this time, which has passed; ISO 8601')
    .requiredOption('--reason <text>', 'why, in your words; it is kept with the destroyed keys')
    .option('-y, --yes', 'do not ask')
    .action(
      act<Options>(async (session, { subject, endedBy, reason, yes }) => {
        if (yes !== true && !(await isMeant(session, subject, endedBy))) return 'declined';
        const answer = await session.service('ledger').command('/v1/erasures', {
          reason,
          ...(subject === undefined ? {} : { subject }),
          ...(endedBy === undefined ? {} : { ended_by: instantOf(endedBy) }),
          ...(session.settings.tenant === null ? {} : { tenant: session.settings.tenant }),
        });
        session.show(answer, () => formatFields(Object.entries(answer)));
        if (answer['keys_destroyed'] === 0)
          session.terminal.note(
            'no key was there: nothing is recorded under this name, it was erased before, or records spell it otherwise',
          );
        return 'done';
      }),
    );
}

/** What is destroyed cannot be had back: whoever sits there says so once more. */
async function isMeant(
  { terminal, settings }: Session,
  subject: string | undefined,
  endedBy: string | undefined,
): Promise<boolean> {
  if (!terminal.isInteractive)
    throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', {
      remedy: 'Pass --yes to erase without being asked.',
    });
  const whose = `${subject ?? 'every subject'} of ${settings.tenant ?? 'the tenant of the token'}`;
  const when = endedBy === undefined ? '' : `, as far as its retention ended by ${endedBy}`;
  terminal.note('What still waits about it can be denied or closed by hand then, and no longer be undone by a tool.');
  return isYes(await terminal.ask(`Destroy the keys of ${whose}${when}, for good? [y/N] `));
}

function instantOf(text: string): number {
  const instant = instantIn(text);
  if (instant === null)
    throw new CliProblem('TIME_INVALID', `${text} is no time`, 'usage', {
      remedy: 'Write it as 2026-11-30T00:00:00Z, or as a day, which begins in UTC: 2026-11-30.',
    });
  return instant;
}
