// npm run histories: records what the services of this version write, and what it folds to.
//
//   npm run histories            of a version that has none yet
//   npm run histories -- --again replaces it, as long as the version is not released
//   npm run histories -- --fold  leaves its logs as they are, and writes down what they fold to now
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldAnew, writeHistory } from './histories.js';
import { run } from './run.js';

/** Small, and with every kind of story in it. */
const SEED = 15;
const EVENTS = 40;

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const folder = join('test', 'histories', version);
const isReleased = readFileSync('CHANGELOG.md', 'utf8').includes(`\n## [${version}]`);
const tell = (states: Awaited<ReturnType<typeof foldAnew>>): void => {
  for (const { log, partition, edition, seq, rows } of states)
    console.log(
      `${log}/${String(partition)}: ${String(seq)} records, ${String(rows)} rows of edition ${String(edition)}`,
    );
};
if (process.argv.includes('--fold')) tell(await foldAnew(folder));
else if (existsSync(folder) && (isReleased || !process.argv.includes('--again'))) {
  console.error(
    `${folder} is there${isReleased ? ', and what a released version wrote stays' : ': replace it with --again'}`,
  );
  process.exitCode = 1;
} else {
  const { violations } = await run({
    seed: SEED,
    events: EVENTS,
    isQuick: true,
    onQuiet: async (world) => {
      tell(await writeHistory(world, folder));
    },
  });
  if (violations.length > 0) throw new Error(`seed ${String(SEED)} breaks a promise: ${JSON.stringify(violations[0])}`);
}
