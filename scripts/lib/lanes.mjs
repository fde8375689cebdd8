// The lanes of proof, and which of them run when. `npm test`, `npm run test:all`, .ci/run and docs/proof.md read this table.
import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * @typedef {'test' | 'ci' | 'all'} LaneSet
 * @typedef {object} Lane
 * @property {string} name
 * @property {string} script below scripts/
 * @property {readonly string[]} [args] that the lane always has
 * @property {string} command what a person types to run the lane alone; the arguments of a set are added to it
 * @property {readonly string[] | null} test arguments in `npm test`; null: left out
 * @property {readonly string[] | null} ci arguments in .ci/run
 * @property {readonly string[] | null} all arguments in `npm run test:all`
 * @property {string} [kind] counts come from Jest's results, else from the last line that the lane prints
 * @property {'chromium'} [needs] where it is not, a run of a set leaves the lane out, and says why
 * @property {readonly { readonly after: number, readonly args: readonly string[] | null }[]} [late] arguments in .ci/run when it begins
 *   so many minutes after the run or later, the latest that applies; null: left out. `?/5` is one of five, by turns (`whenLate`)
 * @property {boolean} [takesTurns] which of these lanes .ci/run begins with is by turns, so that a slow machine leaves out others each time
 * @property {boolean} [usesSharedStack] runs beside other lanes on one stack; the rest start their own, or need none
 */

/**
 * Minutes after which .ci/run does less, so that it ends within 40: two cores that others use too take three times as long for all
 * of it, and a run that is cut gives no verdict at all.
 */
const LATE_AFTER_MINUTES = 26;
/** Minutes after which it begins no other suite on real parts. */
const VERY_LATE_AFTER_MINUTES = 33;

/** Suites of integration that everybody runs: a recovery of each kind, who hears of it, who may ask, and what is refused. */
const CORE_SUITES = [
  'drifted-refund',
  'recovery-cases',
  'several-calls',
  'commits',
  'consumers',
  'http-edge',
  'bad-input',
];

/** @type {readonly Lane[]} */
export const LANES = [
  { name: 'verify', script: 'verify.mjs', command: 'npm run verify', test: [], ci: [], all: [], usesSharedStack: true },
  {
    name: 'integration',
    script: 'jest.mjs',
    args: ['integration'],
    command: 'npm run test:integration',
    test: CORE_SUITES,
    ci: [],
    all: [],
    // Where verify took a quarter of an hour, all of them take three quarters.
    late: [
      { after: 9, args: ['--shard=?/2'] },
      { after: 13, args: ['--shard=?/5'] },
    ],
    kind: 'integration',
    usesSharedStack: true,
  },
  {
    name: 'e2e',
    script: 'jest.mjs',
    args: ['e2e'],
    command: 'npm run test:e2e',
    test: [],
    ci: [],
    all: [],
    late: [
      { after: LATE_AFTER_MINUTES, args: ['story', 'cli'] },
      { after: VERY_LATE_AFTER_MINUTES, args: null },
    ],
    kind: 'e2e',
    takesTurns: true,
  },
  // People in a browser. `npm test` asks no machine to have one; .ci/run takes what people decide and every screen.
  {
    name: 'console',
    script: 'jest.mjs',
    args: ['console'],
    command: 'npm run test:console',
    test: null,
    ci: ['decide', 'screens'],
    all: [],
    late: [
      { after: LATE_AFTER_MINUTES, args: ['decide'] },
      { after: VERY_LATE_AFTER_MINUTES, args: null },
    ],
    kind: 'console',
    takesTurns: true,
    needs: 'chromium',
  },
  // Charts, rules and container files read by the tools of a cluster, without one. Builds those tools once, with Go.
  {
    name: 'deploy',
    script: 'jest.mjs',
    args: ['deploy'],
    command: 'npm run test:deploy',
    test: null,
    ci: [],
    all: [],
    late: [{ after: VERY_LATE_AFTER_MINUTES, args: null }],
    kind: 'deploy',
    takesTurns: true,
  },
  // The quick runs kill each process once; all of them make a third of their runs on two instances of every service, and end with
  // twelve kills of workers in legs.
  {
    name: 'crash',
    script: 'crash.mjs',
    command: 'npm run test:crash',
    test: ['--quick'],
    ci: [],
    all: [],
    late: [
      { after: LATE_AFTER_MINUTES, args: ['--quick'] },
      { after: VERY_LATE_AFTER_MINUTES, args: null },
    ],
    takesTurns: true,
  },
  {
    name: 'interop',
    script: 'interop.mjs',
    command: 'npm run test:interop',
    test: null,
    ci: [],
    all: [],
    late: [{ after: VERY_LATE_AFTER_MINUTES, args: null }],
    takesTurns: true,
  },
  {
    name: 'simulation',
    script: 'simulate.mjs',
    command: 'npm run simulate',
    test: ['--seeds', '1..40', '--events', '150'],
    ci: ['--seeds', '1..200'],
    all: ['--seeds', '1..400'],
    late: [{ after: LATE_AFTER_MINUTES, args: null }],
  },
  {
    name: 'mutants',
    script: 'simulate.mjs',
    args: ['--mutants', '--events', '150'],
    command: 'npm run simulate -- --mutants --events 150',
    test: null,
    ci: [],
    all: [],
    late: [{ after: LATE_AFTER_MINUTES, args: null }],
  },
  // Every two of point, action and process; all three on request: npm run test:crash -- --matrix whole. The runs of `crash` strike
  // at moments, so .ci/run leaves the points to `npm run test:all`.
  {
    name: 'matrix',
    script: 'crash.mjs',
    args: ['--matrix'],
    command: 'npm run test:crash -- --matrix',
    test: null,
    ci: null,
    all: [],
  },
  {
    name: 'seeds',
    script: 'simulate.mjs',
    command: 'npm run simulate',
    test: null,
    ci: ['--seeds', '401..430', '--events', '100'],
    all: ['--seeds', '401..800', '--events', '100'],
    late: [{ after: LATE_AFTER_MINUTES, args: null }],
  },
  // Every tampering at every record; `npm run unit` does some of them.
  { name: 'tamper', script: 'tamper.mjs', command: 'npm run tamper', test: null, ci: null, all: [] },
  {
    name: 'breaks',
    script: 'breaks.mjs',
    command: 'npm run breaks',
    test: null,
    ci: ['--changed', '--minutes', '5'],
    all: [],
    late: [{ after: LATE_AFTER_MINUTES, args: null }],
  },
  { name: 'sdk', script: 'pack.mjs', command: 'npm run pack:sdk', test: null, ci: null, all: [] },
];

/**
 * What becomes of a lane that would begin after so many minutes. Pure.
 *
 * @param {Lane} lane @param {LaneSet} set @param {number} minutes since the run began @param {number} turn from 1
 * @returns {{ readonly lane: Lane | null, readonly why: string } | null} null: it runs as ever; without a lane it is left out
 */
export function whenLate(lane, set, minutes, turn) {
  const late = (lane.late ?? []).findLast(({ after }) => minutes >= after);
  if (set !== 'ci' || late === undefined) return null;
  const why = `${String(Math.round(minutes))} minutes had passed; all of it: ${commandOf(lane, 'all')}`;
  const args = late.args?.map((one) => one.replace(/\?\/(\d)/u, (_, parts) => partOf(turn, Number(parts)))) ?? null;
  return { lane: args === null ? null : { ...lane, ci: args }, why };
}

const partOf = (turn, parts) => `${String(((turn - 1) % parts) + 1)}/${String(parts)}`;

const TURNS = 5;

/** Whose turn it is at a commit, so that what a slow machine leaves out is not always the same: from 1. Pure. */
export const turnOf = (commit) => (Number.parseInt(commit.slice(-2) || '0', 16) % TURNS) + 1;

/** Lanes in the order in which a set runs them at a turn: others of those that take turns come first each time. Pure. */
export function inTurn(lanes, set, turn) {
  const taking = set === 'ci' ? lanes.filter(({ takesTurns }) => takesTurns === true) : [];
  const [turned, others] = [turn - 1, lanes.filter((lane) => !taking.includes(lane))];
  return [...taking.slice(turned), ...taking.slice(0, turned), ...others];
}

/** Kept apart from the lanes: they want a download, or hours. `npm test` and `npm run test:all` name them at their end. */
export const ON_REQUEST = [
  { command: 'npm run test:node22', says: 'the SDK on the oldest Node it promises; downloads that Node' },
  { command: 'npm run test:crash -- --matrix whole', says: 'all 108 cases of the crash matrix' },
  { command: 'npm run test:crash -- --legs 200', says: 'a worker killed at each step of a leg of eleven' },
  { command: 'npm run test:crash -- --consumers', says: 'consumers of rollbacks, killed, paused and rebalanced' },
  {
    command: 'npm run test:crash -- --brokers 2000',
    says: 'nodes of three brokers killed and stopped, alone and two at once',
  },
];

/** @param {LaneSet} set @returns {readonly Lane[]} */
export const lanesOf = (set) => LANES.filter((lane) => lane[set] !== null);

/** The command line of a lane in a set, for the pinned Node. */
export const argumentsOf = (lane, set) => [join(root, 'scripts', lane.script), ...(lane.args ?? []), ...lane[set]];

/** What a person types to run the lane alone as it runs in the set. Pure. */
export function commandOf(lane, set) {
  const args = lane[set] ?? [];
  if (args.length === 0) return lane.command;
  return `${lane.command}${lane.command.includes(' -- ') ? '' : ' --'} ${args.join(' ')}`;
}

/** What a run tells of its lanes: those that ran, then those that it left out, and why. Pure. */
export const laneRows = (done, leftOut) => [
  ...done.map(({ name, passed, failed, seconds, less }) => [
    name,
    passed,
    failed,
    less === undefined ? seconds : `${String(seconds)}, less of it: ${less}`,
  ]),
  ...leftOut.map(({ name, why }) => [name, '-', '-', `left out: ${why}`]),
];

/** The table of docs/proof.md. Pure. */
export function lanesTable() {
  const cell = (lane, set) => {
    if (lane[set] === null) return '-';
    return lane[set].length === 0 ? 'yes' : `\`${lane[set].join(' ')}\``;
  };
  return [
    '| Lane | Command | `npm test` | `.ci/run` | `npm run test:all` |',
    '|---|---|---|---|---|',
    ...LANES.map(
      (lane) =>
        `| ${lane.name} | \`${lane.command}\` | ${cell(lane, 'test')} | ${cell(lane, 'ci')} | ${cell(lane, 'all')} |`,
    ),
  ].join('\n');
}

/**
 * What a set leaves out of `npm run test:all`, or runs with less, and what neither runs. Pure.
 *
 * @param {LaneSet} set
 * @returns {readonly string[]} lines for people
 */
export function leftOutOf(set) {
  const isLess = (lane) => lane[set] === null || lane[set].join(' ') !== lane.all.join(' ');
  const lanes = set === 'all' ? [] : LANES.filter((lane) => lane.all !== null && isLess(lane));
  return [
    ...(lanes.length === 0 ? [] : ['Left out, or run with less; all of it: npm run test:all']),
    ...lanes.map((lane) => `  ${lane.name.padEnd(11)} ${commandOf(lane, 'all')}`),
    'On request:',
    ...ON_REQUEST.map(({ command, says }) => `  ${command}: ${says}`),
  ];
}
