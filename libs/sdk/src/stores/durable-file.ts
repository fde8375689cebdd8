// Files that survive a crash: written aside, forced to disk, then renamed.
import { mkdir, open, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** Replaces a file whole or not at all. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Two containers over one folder may both be process 1.
  const aside = `${path}.${hostname()}.${String(process.pid)}.tmp`;
  const file = await open(aside, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
  await syncDirectory(dirname(path));
}

/** Forces the names of a directory to disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Whether a file system call failed for this reason. Duck-typed: such errors come from another realm under Jest. */
export function failedWith(code: string, error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
