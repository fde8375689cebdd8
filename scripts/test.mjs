// npm test: from nothing to a verdict. Verify, then the suites on real Kafka, registry and PostgreSQL, then short runs of the
// long lanes. What it leaves out stands at its end (scripts/lib/lanes.mjs has the table).
//
//   --set all    npm run test:all: every lane in full
//   --set ci     what .ci/run runs
//   --only a,b   only these lanes
//
// The last line is `N passed, N failed`, summed over all lanes; the exit code is 0 only if nothing failed.
import { spawnSync } from 'node:child_process';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { lackOfChromium } from './lib/chromium.mjs';
import { countsIn, jestCounts, lastLine, settleCounts, sumCounts } from './lib/counts.mjs';
import { failuresIn, titlesIn } from './lib/failures.mjs';
import { argumentsOf, inTurn, laneRows, lanesOf, leftOutOf, turnOf, whenLate } from './lib/lanes.mjs';
import { pinnedNode, root } from './lib/paths.mjs';
import { table } from './lib/table.mjs';
import { runTee } from './lib/tee.mjs';
import { withTestStack } from './lib/test-stack.mjs';
import { noteTiming } from './lib/timings.mjs';

/** Name of each set in the timings, which is also the npm script that runs it. */
const SETS = { test: 'test', ci: 'ci', all: 'test:all' };

await main(async () => {
  const startedAt = performance.now();
  const { set, lanes: chosen, isWhole } = optionsOf(process.argv.slice(2));
  await bootstrap();
  // A lane that is asked for by name fails where it lacks something; a whole run leaves it out.
  const lacking = isWhole ? chosen.flatMap((lane) => lackOf(lane) ?? []) : [];
  const lanes = chosen.filter((lane) => !lacking.some(({ name }) => name === lane.name));
  const sharing = lanes.filter((lane) => lane.usesSharedStack === true);
  const turn = turnOf(spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? '');
  const alone = inTurn(
    lanes.filter((lane) => lane.usesSharedStack !== true),
    set,
    turn,
  );
  // The shared stack is gone before the lanes that bring their own: two cores carry one.
  const runs = { set, turn, startedAt: isWhole ? startedAt : Infinity };
  const ended = [
    ...(sharing.length > 0 ? await withTestStack(() => runAll(sharing, runs)) : []),
    ...(await runAll(alone, runs)),
  ];
  const done = ended.filter(({ why }) => why === undefined);
  const late = ended.filter(({ why }) => why !== undefined);
  const sum = sumCounts(done);
  if (isWhole) console.log(`\n${leftOutOf(set).join('\n')}`);
  tell(done, [...lacking, ...late]);
  if (isWhole && sum.failed === 0) console.log(`${SETS[set]} took ${noteTiming(SETS[set], startedAt, done)} s\n`);
  console.log(lastLine(sum));
  return sum.failed > 0 ? 1 : 0;
});

/** Why a lane cannot run here; null where it can. */
function lackOf({ name, needs }) {
  const why = needs === 'chromium' ? lackOfChromium() : null;
  return why === null ? null : { name, why };
}

async function runAll(lanes, { set, turn, startedAt }) {
  const ended = [];
  for (const lane of lanes) {
    const late = whenLate(lane, set, (performance.now() - startedAt) / 60_000, turn);
    if (late === null) ended.push(await runLane(lane, set));
    else if (late.lane === null) ended.push({ name: lane.name, why: late.why });
    else ended.push({ ...(await runLane(late.lane, set)), less: late.why });
  }
  return ended;
}

async function runLane(lane, set) {
  console.log(`\n##### ${lane.name}`);
  const startedAt = performance.now();
  const { code, output } = await runTee(pinnedNode, argumentsOf(lane, set));
  const counted = lane.kind === undefined ? countsIn(output) : jestCounts(lane.kind);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { name: lane.name, ...settleCounts(counted, code), output, seconds };
}

function tell(done, leftOut) {
  console.log(`\n${table(['lane', 'passed', 'failed', 'seconds'], laneRows(done, leftOut))}\n`);
  for (const { name, failed, output } of done)
    if (failed > 0) console.log(`##### what failed in ${name}\n${failuresIn(output)}\n`);
  for (const { name, failed, output } of done)
    for (const title of failed > 0 ? titlesIn(output) : []) console.log(`failed in ${name}: ${title}`);
}

function optionsOf(args) {
  const valueOf = (flag) => (args.includes(flag) ? (args[args.indexOf(flag) + 1] ?? '') : null);
  const set = valueOf('--set') ?? 'test';
  if (!Object.hasOwn(SETS, set)) throw new Error(`--set ${set}: choose from ${Object.keys(SETS).join(', ')}`);
  const only = valueOf('--only')?.split(',') ?? null;
  const lanes = lanesOf(only === null ? set : 'all');
  const unknown = (only ?? []).filter((name) => !lanes.some((lane) => lane.name === name));
  if (unknown.length > 0)
    throw new Error(`--only ${unknown.join(',')}: choose from ${lanes.map((lane) => lane.name).join(', ')}`);
  if (only === null) return { set, lanes, isWhole: true };
  // A lane that the set leaves out runs in full when it is asked for by name.
  return {
    set,
    lanes: lanes.filter((lane) => only.includes(lane.name)).map((lane) => ({ ...lane, [set]: lane[set] ?? lane.all })),
    isWhole: false,
  };
}
