// AppCDS archives: a JVM that finds its classes parsed already starts in half the time.
//
// Made once per jar folder and Java by a training run that starts the program on throw-away data and ends it. An archive
// is a convenience: when making one fails, the stack starts without it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { keepDir } from '../../../scripts/lib/paths.mjs';
import type { Java } from '../../../scripts/lib/prerequisites.mjs';
import { superviseChild, type ChildPlan } from './child.js';
import type { StateBook } from './state-file.js';

/** How one program is started on throw-away data, with extra JVM flags. */
export type TrainingRun = (folder: string, jvmFlags: readonly string[]) => Promise<ChildPlan>;

/** Where the archive of this program and this Java lies, made or not. */
export function archiveFile(program: string, java: Java): string {
  const tag = createHash('sha256')
    .update(`${program}\n${java.bin}\n${String(java.major)}`)
    .digest('hex')
    .slice(0, 12);
  return join(keepDir, 'archives', `${basename(program)}-java${String(java.major)}-${tag}.jsa`);
}

/** Flags that use the archive when it is there. `-Xshare:auto` starts without it when it does not fit. */
export function archiveFlags(file: string): readonly string[] {
  return existsSync(file)
    ? ['-Xshare:auto', `-XX:SharedArchiveFile=${file}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
    : [];
}

/** Makes the archive unless it is there. */
export async function makeArchive(
  name: string,
  file: string,
  train: TrainingRun,
  book: StateBook,
  say: (line: string) => void,
): Promise<void> {
  if (existsSync(file)) return;
  say(`preparing ${name} to start faster (first run only)`);
  const folder = mkdtempSync(join(tmpdir(), 'recourse-train-'));
  const partial = `${file}.${String(process.pid)}.partial`;
  try {
    mkdirSync(join(file, '..'), { recursive: true });
    const child = superviseChild(
      await train(folder, [`-XX:ArchiveClassesAtExit=${partial}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']),
      book,
    );
    await child.start();
    await child.stop();
    if (existsSync(partial)) renameSync(partial, file);
  } catch (cause) {
    say(
      `${name} starts without a class archive, so more slowly (${cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)})`,
    );
  } finally {
    rmSync(partial, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
