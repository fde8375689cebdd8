// recourse commits …
import type { ReleaseTuple } from '@recourse/messages';
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { describeCommit, describeComparison, standingOf } from '../commits/commit-text.js';
import type { CommitsCompared } from '../commits/commit-text.js';
import { instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Session } from '../session.js';
import { LIMIT } from './options.js';
import type { Act } from './options.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'COMMIT', of: (row) => row['commit_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'AGENT', of: (row) => docOf(row['checkpoint'])['agent_id'] },
  { title: 'STEP', of: (row) => docOf(row['checkpoint'])['step_id'] },
  { title: 'STANDS', of: standingOf },
  { title: 'RECORDED', of: (row) => instant(row['recorded_at']) },
];

export function addCommits(program: Command, act: Act): void {
  const commits = program
    .command('commits')
    .description('admitted steps of runs without an outside effect: their state, gate and release');
  commits
    .command('list')
    .description('commits')
    .option('--run <id>', 'of one run')
    .addOption(LIMIT())
    .action(
      act<{ run?: string; limit: number }>(async (session, { run, limit }) => {
        const listed = await session
          .service('ledger')
          .list('/v1/commits', { run_id: run, tenant: session.tenant }, limit);
        session.show(listed, () => listText(COLUMNS, listed));
      }),
    );
  commits
    .command('show')
    .description('one commit: how it was admitted, what it rests on, whether it stands')
    .argument('<id>', 'commit id')
    .action(
      act(async (session, _options, id) => {
        const found = await commitOf(session, id);
        session.show(found, () => describeCommit(found));
      }),
    );
  commits
    .command('diff')
    .description(
      'what differs between the releases that two commits pin: prompt, model, policy, tools, context, eval, memory',
    )
    .argument('<from>', 'commit id')
    .argument('<to>', 'commit id')
    .action(
      act(async (session, _options, from, to) => {
        const [left, right] = await Promise.all([commitOf(session, from), commitOf(session, to)]);
        const compared = await comparisonOf([from ?? '', releaseOf(left)], [to ?? '', releaseOf(right)]);
        session.show(compared, () => describeComparison(compared));
      }),
    );
}

type Pinned = readonly [id: string, release: ReleaseTuple | null];

async function comparisonOf([from, left]: Pinned, [to, right]: Pinned): Promise<CommitsCompared> {
  const unpinned = [...(left === null ? [from] : []), ...(right === null ? [to] : [])];
  if (left === null || right === null) return { from, to, differences: null, unpinned };
  const { releaseDiff } = await import('@recourse/sdk');
  return { from, to, differences: releaseDiff(left, right), unpinned };
}

function commitOf(session: Session, id: string | undefined): Promise<Doc> {
  return session.service('ledger').get(`/v1/commits/${encodeURIComponent(id ?? '')}`);
}

/** As the ledger renders it: every part is text. */
function releaseOf(commit: Doc): ReleaseTuple | null {
  const { release } = docOf(commit['checkpoint']);
  return release === null || release === undefined ? null : (release as ReleaseTuple); // the ledger's codec has checked its shape
}
