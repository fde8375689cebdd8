// recourse assumptions …
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { formatFields, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { fallFields } from './fall.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'REF', of: (row) => row['ref'] },
  { title: 'RUN', of: (row) => row['run_id'] ?? 'all' },
  { title: 'STANDS', of: (row) => row['verdict'] },
  { title: 'SAYS', of: (row) => row['source'] },
  { title: 'STATED', of: (row) => instant(row['stated_at']) },
  { title: 'DISPUTED SINCE', of: (row) => instant(row['disputed_since']) },
  { title: 'SOURCES', of: sidesText },
];

export function addAssumptions(program: Command, act: Act): void {
  const assumptions = program.command('assumptions').description('what sources say of the refs that commits rely on');
  addListAction<{ ref?: string; run?: string; disputed?: boolean }>(
    assumptions
      .command('list')
      .description('what stands for each ref; the newest statement of all sources does')
      .option('--ref <ref>', 'of one ref')
      .option('--run <id>', 'that hold for one run alone')
      .option('--disputed', 'only those of which two sources say different things'),
    act,
    {
      service: 'ledger',
      path: '/v1/assumptions',
      columns: COLUMNS,
      query: ({ ref, run, disputed }) => ({ ref, run_id: run, disputed: disputed === true ? 'true' : undefined }),
    },
  );
  assumptions
    .command('preview')
    .description(
      'shows what would fall if a source said now that the ref does not hold, or why a person would be asked first; states nothing',
    )
    .argument('<ref>', 'assumption ref')
    .option('--source <name>', 'who would say it; unless told whoever says what stands')
    .option('--run <id>', 'said of one run alone')
    .action(
      act<PreviewOptions>(async (session, { source, run }, ref = '') => {
        const said = { ref, run_id: run, ...(await saidBy(session, ref, source)) };
        const told = await session.service('ledger').get('/v1/sources/drill', said);
        session.show(told, () => previewText(told));
      }),
    );
}

interface PreviewOptions {
  readonly source?: string;
  readonly run?: string;
}

/**
 * Who would say it, and of which tenant's ref where whoever asks speaks for all: unless told, what stands says both.
 *
 * Errors: CliProblem(SOURCE_MISSING) where nobody has said anything yet.
 */
async function saidBy(
  session: Session,
  ref: string,
  named: string | undefined,
): Promise<{ readonly source: string; readonly tenant?: string }> {
  const { items } = await session.service('ledger').list('/v1/assumptions', { ref, tenant: session.tenant }, REFS_MAX);
  const [stands] = items;
  const tenants = [...new Set(items.map((row) => String(row['tenant'])))];
  const tenant = session.tenant ?? (tenants.length === 1 ? tenants[0] : undefined);
  const source = named ?? stands?.['source'];
  if (typeof source === 'string') return { source, ...(tenant === undefined ? {} : { tenant }) };
  throw new CliProblem('SOURCE_MISSING', `nobody has said anything of ${ref} yet`, 'usage', {
    remedy:
      'Name who would say it: --source <name>; recourse sources list names those that spoke. Or look at the ref again.',
  });
}

/** Rows of one ref that are looked through for their tenants. */
const REFS_MAX = 200;

function previewText(told: Doc): string {
  const { ref, source, relying, held: why, weight_permille: weight, threshold_permille: least } = told;
  const held = docOf(why);
  return formatFields([
    ['ref', ref],
    ['said by', source],
    [
      'weighs',
      typeof least !== 'number' ? null : `${String(weight)} of the ${String(least)} permille that need no person`,
    ],
    ['a person is asked first', why === null ? 'no' : `${String(held['reason'])}: ${String(held['detail'])}`],
    ['rely on it by name', relying],
    ...fallFields(told),
  ]);
}

function sidesText(row: Doc): string {
  const sides = Array.isArray(row['sides']) ? row['sides'].map(docOf) : [];
  return sides.map(({ source, verdict }) => `${String(source)}: ${String(verdict)}`).join(', ');
}
