// peers: the same work, with the same effects and gates, by Recourse and by what a user would run instead of it.
//
// Every engine has fresh servers of its own in each round; the order rotates from round to round. Closed-loop callers; a call
// counts when its run is recovered. Every run must show each effect once, in the right order, each verified before the next.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from '../../../../scripts/lib/paths.mjs';
import { say, withOwnStack } from '../bench-stack.js';
import type { Measured } from '../report.js';
import { sum } from '../rounds.js';
import { openHelper } from '../worker-process.js';
import { cellName, cellPlans } from './cells.js';
import type { CellPlan, Pace } from './cells.js';
import { dbos } from './dbos.engine.js';
import type { Engine, RunningEngine } from './engine.js';
import { figuresOf } from './figures.js';
import { floor } from './floor.engine.js';
import { measureCell } from './measure-cell.js';
import type { Measurement } from './measure-cell.js';
import { installPeers } from './peer-modules.js';
import { selfTimes, tableOfProfile } from './profile.js';
import type { CpuProfile } from './profile.js';
import { recourseEngine } from './recourse.engine.js';
import { restate } from './restate.engine.js';
import { temporal } from './temporal.engine.js';

/** By the name in `--engines`; Recourse is measured twice, with its log flushed and not. */
const ENGINES: Readonly<Record<string, readonly Engine[]>> = {
  restate: [restate],
  dbos: [dbos],
  temporal: [temporal],
  floor: [floor],
  recourse: [recourseEngine('recourse', false), recourseEngine('recourse-flushed', true)],
};
export const ENGINE_NAMES = Object.keys(ENGINES).join(',');
const PROFILES = join(cacheDir, 'peers-profiles');
/** The cell that is profiled unless another is named. */
const PROFILED = /^recover:http:16$/;

export interface PeersOptions {
  /** Names with commas. */
  readonly engines: string;
  readonly rounds: number;
  readonly cellMs: number;
  /** Cells whose name this is part of, as a regular expression; all when empty. */
  readonly only: string;
  /** Recourse alone, with profiles. */
  readonly isProfiled: boolean;
}
export const PEERS_FULL = { rounds: 3, cellMs: 15_000 } as const;
export const PEERS_QUICK = { rounds: 1, cellMs: 3_000 } as const;
/** A profile of code that is still being compiled says little. */
export const PEERS_PROFILE = { rounds: 1, cellMs: 12_000 } as const;

const WARM_UPS: readonly CellPlan[] = [
  { workload: 'recover', variant: 'http', callers: 1 },
  { workload: 'recover', variant: 'http', callers: 16 },
  { workload: 'saga', variant: 'memory', callers: 8 },
];
const WARM_UP_SHARE = 0.3;

/** Errors: Error for the name of an engine that there is not. */
export async function benchPeers(options: PeersOptions): Promise<Measured> {
  await installPeers('base');
  const notes: string[] = [];
  const engines = chosen(options, notes);
  const cells: Measurement[] = [];
  const broken = new Set<string>();
  for (let round = 0; round < options.rounds; round += 1)
    for (const engine of rotated(engines, round)) {
      say(`round ${String(round + 1)}: ${engine.name}`);
      await measureEngine(engine, round, options, cells).catch((cause: unknown) => {
        broken.add(engine.name);
        notes.push(
          `${engine.name} failed in round ${String(round + 1)}: ${cause instanceof Error ? (cause.stack ?? '') : String(cause)}`,
        );
      });
    }
  if (options.isProfiled) notes.push(...profileNotes(cells));
  const measured = figuresOf(
    engines.map(({ name }) => name),
    cells,
  );
  return {
    ...measured,
    gates: { ...measured.gates, ...Object.fromEntries([...broken].map((name) => [`${name}_ran`, false])) },
    notes: [
      'peers: tool, driver, engine and its servers share the cores',
      ...engines.map((engine) => `  ${engine.name}: ${engine.settings()}`),
      ...cells.map(noteOf),
      ...notes,
    ],
  };
}

function chosen({ engines, isProfiled }: PeersOptions, notes: string[]): readonly Engine[] {
  const names = isProfiled ? ['recourse'] : engines.split(',');
  const wanted = names.flatMap((name) => {
    const found = ENGINES[name];
    if (found === undefined) throw new Error(`there is no engine ${name}; choose of ${ENGINE_NAMES}`);
    return found;
  });
  const usable = wanted.filter((engine) => {
    const missing = engine.missing();
    if (missing !== null) notes.push(`${engine.name} is left out: ${missing}`);
    return missing === null;
  });
  return isProfiled ? usable.slice(0, 1) : usable;
}

/** So that no engine always follows the same one. */
function rotated(engines: readonly Engine[], round: number): readonly Engine[] {
  const first = round % Math.max(1, engines.length);
  return [...engines.slice(first), ...engines.slice(0, first)];
}

async function measureEngine(
  engine: Engine,
  round: number,
  options: PeersOptions,
  cells: Measurement[],
): Promise<void> {
  const profiles = options.isProfiled ? emptyFolder(PROFILES) : null;
  const tool = await openHelper<never, never, { readonly port: number }>('./peers/tool.main.js', {});
  try {
    await withOwnStack({ kafkaSettings: engine.kafkaSettings ?? {} }, async (bench, stack) => {
      if (!engine.needsKafka) {
        await stack.kill('kafka', 'SIGKILL');
        await stack.kill('registry', 'SIGKILL');
      }
      await engine.with({ bench, stack, toolPort: tool.ready.port, profiles }, (running) =>
        measureCells(running, { engine: engine.name, round, options, cells }),
      );
    });
  } finally {
    await tool.close();
  }
}

interface Measuring {
  readonly engine: string;
  readonly round: number;
  readonly options: PeersOptions;
  /** Filled cell by cell, so that those before a failure count. */
  readonly cells: Measurement[];
}

async function measureCells(running: RunningEngine, { engine, round, options, cells }: Measuring): Promise<void> {
  const { cellMs, only, isProfiled } = options;
  const plans = cellPlans(only === '' && isProfiled ? PROFILED : new RegExp(only));
  let last: Pace | null = null;
  let serial = 0;
  const run = async (plan: CellPlan, ms: number): Promise<Measurement> => {
    serial += 1;
    const prefix = `r${String(round)}c${String(serial)}`;
    const measured = await measureCell(running, { ...plan, engine, prefix, ms, last });
    if (plan.workload === 'recover') last = { callers: plan.callers, perS: measured.perS };
    return measured;
  };
  for (const plan of WARM_UPS) await run(plan, cellMs * WARM_UP_SHARE);
  for (const plan of plans) {
    const measured = await run(plan, cellMs);
    cells.push(measured);
    say(noteOf(measured));
  }
}

function noteOf(cell: Measurement): string {
  const { engine, perS, p50, p99, cpuMs, foreign, runs, isShort, wrong, written } = cell;
  const cpu = sum(Object.values(cpuMs)).toFixed(1);
  const figures = `${perS.toFixed(1).padStart(8)}/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${cpu} ms of CPU a run, ${String(runs)} runs${isShort ? ', all that were ready' : ''}`;
  const strangers = `strangers ${(foreign * 100).toFixed(0)} %`;
  return `  ${engine.padEnd(16)} ${cellName(cell).padEnd(20)} ${figures}, ${strangers}${written?.types === undefined ? '' : `; a run wrote ${written.types}`}${wrong === null ? '' : `; WRONG: ${wrong}`}`;
}

function emptyFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Tables of what the services wrote as they ended, over the measured cells. */
function profileNotes(cells: readonly Measurement[]): readonly string[] {
  const windows = cells.map(({ from, to }) => ({ from: from * 1_000, to: to * 1_000 }));
  const runs = sum(cells.map((cell) => cell.runs));
  const tables = readdirSync(PROFILES)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => {
      const profile = JSON.parse(readFileSync(join(PROFILES, file), 'utf8')) as CpuProfile; // Node wrote it
      const name = file.replace('.cpuprofile', '');
      const cpuMs = sum(cells.map((cell) => (cell.cpuMs[name] ?? 0) * cell.runs)) / runs;
      return tableOfProfile({ name, runs, cpuMs }, selfTimes(profile, windows));
    });
  const file = join(PROFILES, 'table.txt');
  writeFileSync(file, `${tables.join('\n\n')}\n`);
  return [...tables, `profiles and these tables: ${PROFILES}`];
}
