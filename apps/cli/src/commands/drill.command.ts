// recourse drill …: goes the repair paths of an adapter with canaries, and says what drifted.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import type { Contract } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import type { DrillFinding, DrillKit, DrillReport } from '@recourse/sdk';
import { governingIn, standingIn } from '../contracts/standing.js';
import { formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';

const COLUMNS: readonly Column<DrillFinding>[] = [
  { title: 'CAPABILITY', of: (row) => row.capability },
  { title: 'PATH', of: (row) => row.path },
  { title: 'CALLED', of: (row) => row.called },
  { title: 'VERDICT', of: (row) => row.verdict },
  { title: 'DRIFT', of: (row) => row.drift },
  { title: 'DETAIL', of: (row) => row.detail },
];
/** Contracts that are looked through for those of the adapter. */
const CONTRACTS_MAX = 10_000;
const SUMMARY: Readonly<Record<DrillReport['verdict'], string>> = {
  clean: 'Every path is as its contract says.',
  drift: 'Something is not as its contract says.',
  not_run: 'Not every path could be exercised: about those nothing is known.',
};
const END: Readonly<Record<DrillReport['verdict'], ExitKind>> = {
  clean: 'done',
  drift: 'found',
  not_run: 'unavailable',
};

interface DrillOptions {
  readonly module: string;
  readonly out?: string;
  readonly id?: string;
}

export function addDrill(program: Command, act: Act): void {
  program
    .command('drill')
    .description(
      'exercises each repair path of an adapter on canaries, and reports drift of schema, permission or behaviour. Exit 1 when something drifted, 4 when something could not be exercised',
    )
    .argument('<adapter>', 'prefix of the capabilities, such as payments')
    .requiredOption(
      '--module <file>',
      'module whose default export is the drill kit of the tool owner, or a function that makes it',
    )
    .option('--out <file>', 'adds the report to this file, one JSON document a line')
    .option('--id <id>', 'names the drill; keys of its canaries follow from it. Default: made from the instant')
    .action(
      act<DrillOptions>(async (session, { module, out, id }, adapter = '') => {
        const [kit, contracts, { runDrill, systemClock }] = await Promise.all([
          kitIn(module, session.folder),
          contractsOf(session, adapter),
          import('@recourse/sdk'),
        ]);
        if (kit.adapter !== adapter)
          throw new CliProblem('KIT_OF_ANOTHER_ADAPTER', `${module} is the kit of ${kit.adapter}`, 'usage', {
            remedy: `Call it for ${kit.adapter}, or name another module.`,
          });
        const report = await runDrill({
          kit,
          contracts,
          clock: systemClock,
          tenant: session.tenant ?? 'drill',
          drillId: id ?? deriveId('drill', adapter, systemClock.now(), process.pid),
        });
        session.show(report, () => describe(report));
        if (out !== undefined) added(session, out, report);
        return END[report.verdict];
      }),
    );
}

/** Canaries were made for it: what cannot be kept was shown before. Errors: CliProblem(FILE_UNWRITABLE). */
function added({ folder }: Session, file: string, report: DrillReport): void {
  try {
    writeFileSync(resolve(folder, file), `${JSON.stringify(report)}\n`, { flag: 'a' });
  } catch (cause) {
    throw new CliProblem(
      'FILE_UNWRITABLE',
      `${file} cannot be written; the report is the one that was shown`,
      'usage',
      {
        cause,
        remedy: 'Name a file in a folder that is there.',
      },
    );
  }
}

/** Findings, and what they come to. */
function describe({ drill_id: id, ended_at: endedAt, verdict, findings }: DrillReport): string {
  return [
    ...(findings.length === 0
      ? ['No contract of this adapter is undone by machines.']
      : [formatTable(COLUMNS, findings)]),
    `${SUMMARY[verdict]} ${id}, ${instant(endedAt) ?? ''}`,
  ].join('\n\n');
}

/** Errors: CliProblem(KIT_UNREADABLE). */
async function kitIn(module: string, folder: string): Promise<DrillKit> {
  const remedy =
    'Its default export is { adapter, tools, canaries }, or a function that makes it; see "Drill it" in docs/guides/write-a-worker.md.';
  try {
    const loaded = (await import(pathToFileURL(resolve(folder, module)).href)) as { readonly default?: unknown };
    const kit: unknown =
      typeof loaded.default === 'function' ? await (loaded.default as () => unknown)() : loaded.default;
    if (isKit(kit)) return kit;
  } catch (cause) {
    throw new CliProblem(
      'KIT_UNREADABLE',
      `${module} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      'usage',
      { cause, remedy },
    );
  }
  throw new CliProblem('KIT_UNREADABLE', `${module} exports no drill kit`, 'usage', { remedy });
}

function isKit(value: unknown): value is DrillKit {
  const { adapter, tools, canaries } = docOf(value);
  return (
    typeof adapter === 'string' &&
    typeof tools === 'object' &&
    tools !== null &&
    typeof canaries === 'object' &&
    canaries !== null
  );
}

/** The contracts that bind the tenant, one per capability. Those of other adapters come along: a capability may be looked at by them. */
async function contractsOf(session: Session, adapter: string): Promise<readonly Contract[]> {
  // All versions: where the newest is retired, an older one that is not binds nobody.
  const { items } = await session.service('contracts').list('/v1/contracts', { tenant: session.tenant }, CONTRACTS_MAX);
  const standing = standingIn(items);
  const names = [...new Set(standing.map((row) => String(row['name'])))];
  if (!names.some((name) => name.startsWith(`${adapter}.`)))
    throw new CliProblem('ADAPTER_UNKNOWN', `no contract of ${adapter} stands`, 'usage', {
      remedy: 'See `recourse contracts list`.',
    });
  return names.flatMap((name) => governingIn(standing, name, session.tenant) ?? []);
}
