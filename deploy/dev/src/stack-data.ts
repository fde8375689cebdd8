// The data directory of a stack: where its parts lie, whether they are complete, and how they are wiped.
//
// Invariants
//   D1. Kafka, registry and PostgreSQL data, and what the programs on top keep, are wiped together or not at all: schema ids
//       live in Kafka's records, and a program that remembers records of another cluster waits for them for ever.
//   D3. Logs are signed from their first record or not at all: data that was begun open is not gone on with strictly, nor the
//       other way about, since what no owner signed is void.
//   D2. `complete.json` is written after all three answered for the first time; without it the data is made anew.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY_STATE, isStackBegun, readState, StateBook, stateFileOf, writeWhole } from './state-file.js';

export interface Layout {
  readonly dataDir: string;
  readonly logDir: string;
  readonly kafka: string;
  readonly registry: string;
  /** What the programs on top keep: it is about the records in Kafka. */
  readonly programs: string;
  readonly completeFile: string;
}

/** Where the parts of a data directory lie. */
export function layoutOf(dataDir: string): Layout {
  return {
    dataDir,
    logDir: join(dataDir, 'logs'),
    kafka: join(dataDir, 'kafka'),
    registry: join(dataDir, 'registry'),
    programs: join(dataDir, 'example'),
    completeFile: join(dataDir, 'complete.json'),
  };
}

/**
 * The cluster id of complete data, null when the data was never complete.
 *
 * Errors: when a part of complete data is missing, or its logs were begun with signatures and are to go on without, or without.
 */
export function keptCluster(layout: Layout, isSigned = false): string | null {
  if (!existsSync(layout.completeFile)) return null;
  const { clusterId, signed = false } = readMark(layout);
  const postgres = readState(layout.dataDir).postgres?.dataDir;
  const missing = [layout.kafka, layout.registry, ...(postgres === undefined ? ['stack.json'] : [postgres])].filter(
    (folder) => !existsSync(folder),
  );
  if (missing.length > 0)
    throw new Error(
      `The data in ${layout.dataDir} is incomplete: ${missing.join(', ')} is missing. Kafka, registry and PostgreSQL data belong together; run with --reset to start over.`,
    );
  if (signed !== isSigned)
    throw new Error(
      `The logs in ${layout.dataDir} were begun ${signed ? 'signed' : 'without signatures'}, and a log is signed from its first record or not at all. Start ${signed ? 'with' : 'without'} --secure, name another --data-dir, or run with --reset to start over.`,
    );
  return clusterId;
}

/** Errors: when the mark is torn, as earlier versions left it where the disk was full. */
function readMark({ completeFile, dataDir }: Layout): { readonly clusterId: string; readonly signed?: boolean } {
  try {
    // Written by startAll, whole.
    return JSON.parse(readFileSync(completeFile, 'utf8')) as ReturnType<typeof readMark>;
  } catch {
    const { clusterId } = readState(dataDir);
    throw new Error(
      `${completeFile} is torn. The data is whole if a stack ran on it: write ${JSON.stringify({ clusterId, signed: false })} into it ("signed": true for logs begun with --secure) and start again, or run with --reset to start over.`,
    );
  }
}

/** What a stack keeps in its data directory, and wipes there. */
function foldersOf({ dataDir, kafka, registry, programs, logDir }: Layout): readonly string[] {
  return [kafka, registry, programs, logDir, join(dataDir, 'postgres')];
}

/**
 * Refuses a folder of somebody's own: what no stack began, none deletes.
 *
 * Errors: with what is there under names that a stack would wipe.
 */
export function refuseForeign(layout: Layout): void {
  if (existsSync(layout.completeFile) || isStackBegun(layout.dataDir)) return;
  const found = foldersOf(layout).filter((folder) => existsSync(folder) && readdirSync(folder).length > 0);
  if (found.length > 0)
    throw new Error(
      `No stack began ${layout.dataDir}, and a start would delete what is in ${found.join(', ')}. Name an empty or a new folder with --data-dir, or move that away.`,
    );
}

/** Deletes the data of all three servers and of the programs on top, and keeps the ports. */
export function wipeData(layout: Layout): void {
  const state = readState(layout.dataDir);
  // First the mark, so that a wipe cut short is taken up again.
  rmSync(layout.completeFile, { force: true });
  for (const folder of [...foldersOf(layout), ...(state.postgres === null ? [] : [state.postgres.dataDir])])
    rmSync(folder, { recursive: true, force: true });
  mkdirSync(layout.logDir, { recursive: true });
  if (existsSync(stateFileOf(layout.dataDir)))
    new StateBook(layout.dataDir, { ...EMPTY_STATE, ports: state.ports }).close();
}

/** Marks the data as complete. */
export function markComplete({ completeFile }: Layout, clusterId: string, isSigned = false): void {
  const mark = JSON.stringify({ clusterId, signed: isSigned });
  if (!existsSync(completeFile) || readFileSync(completeFile, 'utf8') !== mark) writeWhole(completeFile, mark);
}
