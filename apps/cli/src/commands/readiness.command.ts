// recourse readiness … and harness audit: what a system would do on the day after, probed rather than said (A93 to A101, D43 to D48).
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { readOne } from '../contracts/files.js';
import { formatTable } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import { harnessAudit } from '../probes/harness.js';
import type { HarnessReport } from '../probes/harness.js';
import { readiness } from '../probes/readiness.js';
import type { ReadinessReport } from '../probes/readiness.js';
import { countsText, endOf, judgedText } from '../probes/report.js';
import { chartersOf, textsOf } from '../probes/scope.js';
import { look } from '../probes/seen.js';
import type { Seen } from '../probes/seen.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';

interface ReadinessOptions {
  readonly tools?: string;
  readonly failUnder: number;
}

export function addReadiness(program: Command, act: Act): void {
  program
    .command('readiness')
    .description(
      'is an agent ready to act: ten areas, probed on the running system. Exit 2 on a P0 blocker, 1 below the threshold',
    )
    .argument('<agent>', 'agent id, as its calls carry it')
    .option('--tools <file>', 'capabilities the agent has besides those on record: a list, YAML or JSON')
    .option('--fail-under <score>', 'exit 1 below this, 0 to 1', threshold, 1)
    .action(
      act<ReadinessOptions>(async (session, { tools, failUnder }, agent = '') => {
        const named = tools === undefined ? [] : toolsIn(session, tools);
        const seen = await look(session);
        const report = readiness(seen, agent, named);
        if (report.capabilities.length === 0) refuseUnheard(seen, agent);
        session.show(report, () => readinessText(report));
        return endOf(report, failUnder);
      }),
    );
}

export function addHarness(program: Command, act: Act): void {
  program
    .command('harness')
    .description('the system around agents')
    .command('audit')
    .description(
      'eight outcomes of five controls, each probed on the running system. Exit 2 on a P0 blocker, 1 below the threshold',
    )
    .option('--fail-under <score>', 'exit 1 below this, 0 to 1', threshold, 1)
    .action(
      act<{ failUnder: number }>(async (session, { failUnder }) => {
        const report = harnessAudit(await look(session));
        session.show(report, () => harnessText(report));
        return endOf(report, failUnder);
      }),
    );
}

function readinessText({ agent, ready, areas, ...counts }: ReadinessReport): string {
  const verdict = ready ? 'is ready' : 'is not ready';
  return [judgedText(areas), '', `${visibleOnOneLine(agent)} ${verdict}: ${countsText(counts)}`].join('\n');
}

function harnessText({ outcomes, ...counts }: HarnessReport): string {
  return [
    judgedText(outcomes.flatMap(({ controls }) => controls)),
    '',
    formatTable(
      [
        { title: 'OUTCOME', of: ({ outcome }) => outcome },
        { title: 'PASS', of: ({ passed }) => passed, align: 'right' },
        { title: 'PARTIAL', of: ({ partial }) => partial, align: 'right' },
        { title: 'FAIL', of: ({ failed }) => failed, align: 'right' },
        { title: 'SCORE', of: ({ score }) => score.toFixed(3), align: 'right' },
      ],
      outcomes,
    ),
    '',
    countsText(counts),
  ].join('\n');
}

/** An agent of which nothing is on record is a slip of the pen, or has not acted yet. Errors: CliProblem(AGENT_UNKNOWN). */
function refuseUnheard({ effects, charters }: Seen, agent: string): void {
  const isWhole = effects.ok && charters.ok && !effects.isCut && !charters.isCut;
  if (!isWhole || chartersOf({ charters }, agent).length > 0) return;
  throw new CliProblem(
    'AGENT_UNKNOWN',
    `nobody has heard of ${agent}: it has made no call and has no charter`,
    'refused',
    {
      remedy:
        'Check its id, as its calls carry it (`recourse mutations show`), and the tenant. For one that has not acted yet pass --tools, or register its charter.',
    },
  );
}

/** Errors: CliProblem(FILE_UNREADABLE). */
function toolsIn({ folder }: Session, file: string): readonly string[] {
  const { value } = readOne(file, folder);
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  const odd = listed.flatMap((one, at) => (typeof one === 'string' && one.trim() !== '' ? [] : [String(at + 1)]));
  if (listed.length > 0 && odd.length === 0) return textsOf(listed);
  const [entries, are] = odd.length === 1 ? ['entry', 'is no name'] : ['entries', 'are no names'];
  throw new CliProblem(
    'FILE_UNREADABLE',
    odd.length === 0 ? `${file} lists no capability` : `${file}: ${entries} ${odd.join(', ')} ${are}`,
    'usage',
    { remedy: 'Write a list of names, such as payments.issue_refund.' },
  );
}

/** Errors: InvalidArgumentError, which commander reports. */
function threshold(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}
