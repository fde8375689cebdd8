// Where the leaf hashes of logs are kept while they are verified: files, so that memory does not grow with a log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HashTree, NodeFiles } from '@recourse/audit';
import { sha256Hex } from '@recourse/kernel';

export interface Scratch {
  readonly folder: string;
}

/** The tree of a partition in it, whatever its topic is called. It is new, whatever was there. */
export function leavesIn(
  scratch: Scratch,
  { topic, partition }: { readonly topic: string; readonly partition: number },
): HashTree {
  const tree = new HashTree(new NodeFiles(scratch.folder, `${sha256Hex(topic)}-${String(partition)}`));
  tree.truncate(0);
  return tree;
}

/** Works with a folder that is gone afterwards. */
export async function withScratch<T>(work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-audit-'));
  try {
    return await work({ folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
