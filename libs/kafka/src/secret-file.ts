// Secrets as an agent or a worker is given them: files that nobody else on the machine may open.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { exposureOf } from '@recourse/kernel';

/** Text of a secret's file. The file that is judged is the one that is read. Errors: one of the system; Error where others may open it. */
export function secretTextIn(path: string): string {
  const opened = openSync(path, 'r');
  try {
    const exposed = exposureOf(path, fstatSync(opened).mode);
    // Windows says of every file that everybody may open it.
    if (exposed !== null && process.platform !== 'win32') throw new Error(exposed);
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}
