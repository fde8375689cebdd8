// recourse commits …
import type { ReleaseTuple } from '@recourse/messages';
import type { Doc } from '@recourse/sdk';
import { docOf, releaseDiff } from '@recourse/sdk';
import type { Command } from 'commander';
import { describeCommit, describeComparison, standingOf } from '../commits/commit-text.js';
import type { CommitsCompared } from '../commits/commit-text.js';
import { instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction, addShowAction, pathBelow } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'COMMIT', of: (row) => row['commit_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'AGENT', of: (row) => docOf(row['checkpoint'])['agent_id'] },
  { title: 'STEP', of: (row) => docOf(row['checkpoint'])['step_id'] },
  { title: 'STANDS', of: standingOf },
  { title: 'RECORDED', of: (row) => instant(row['recorded_at']) },
];

const commitPath = pathBelow('/v1/commits');

export function addCommits(program: Command, act: Act): void {
  const commits = program
    .command('commits')
    .description('admitted steps of runs without an outside effect: their state, gate and release');
  const list = commits.command('list').description('commits').option('--run <id>', 'of one run');
  addListAction<{ run?: string }>(list, act, {
    service: 'ledger',
    path: '/v1/commits',
    by: 'recorded_at',
    grows: true,
    columns: COLUMNS,
    query: ({ run }) => ({ run_id: run }),
  });
  addShowAction(
    commits
      .command('show')
      .description('shows one commit: how it was admitted, what it rests on, whether it stands')
      .argument('<id>', 'commit id'),
    act,
    { service: 'ledger', path: commitPath, text: describeCommit },
  );
  commits
    .command('diff')
    .description(
      'shows what differs between the releases that two commits pin: prompt, model, policy, tools, context, eval, memory',
    )
    .argument('<from>', 'commit id')
    .argument('<to>', 'commit id')
    .action(
      act(async (session, _options, from = '', to = '') => {
        const ledger = session.service('ledger');
        const { tenant } = session;
        const read = (id: string): ReturnType<typeof ledger.get> => ledger.get(commitPath(id), { tenant });
        const [left, right] = await Promise.all([read(from), read(to)]);
        const compared = comparisonOf([from, releaseOf(left)], [to, releaseOf(right)]);
        session.show(compared, () => describeComparison(compared));
      }),
    );
}

type Pinned = readonly [id: string, release: ReleaseTuple | null];

function comparisonOf([from, left]: Pinned, [to, right]: Pinned): CommitsCompared {
  const unpinned = [...(left === null ? [from] : []), ...(right === null ? [to] : [])];
  if (left === null || right === null) return { from, to, differences: null, unpinned };
  return { from, to, differences: releaseDiff(left, right), unpinned };
}

/** As the ledger renders it: every part is text. */
function releaseOf(commit: Doc): ReleaseTuple | null {
  const { release } = docOf(commit['checkpoint']);
  return release === null || release === undefined ? null : (release as ReleaseTuple); // the ledger's codec has checked its shape
}
