// Files as a process is given them: secrets, which nobody else on the machine may open, and keyrings, which nobody else may change.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { exposureOf, intrusionOf } from '@recourse/kernel';

/** Text of a secret's file. Errors: one of the system; Error where others may open it. */
export function secretTextIn(path: string): string {
  return textIn(path, exposureOf);
}

/** Text of a file that says who is believed. Errors: one of the system; Error where others may write it. */
export function believedTextIn(path: string): string {
  return textIn(path, intrusionOf);
}

/** The file that is judged is the one that is read. */
function textIn(path: string, problemOf: (path: string, mode: number) => string | null): string {
  const opened = openSync(path, 'r');
  try {
    const problem = problemOf(path, fstatSync(opened).mode);
    // Windows says of every file that everybody may open and change it.
    if (problem !== null && process.platform !== 'win32') throw new Error(problem);
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}
