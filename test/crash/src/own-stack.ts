// A stack of its own, whose servers the runs may kill.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, wipe } from '@recourse/dev-stack';
import type { DevStack } from '@recourse/dev-stack';

export interface OwnStack {
  readonly stack: DevStack;
  /** Servers that ended without having been killed here. */
  readonly ended: readonly string[];
  /** Stops it; data and logs go away unless they are to be kept. */
  readonly close: (keep: boolean) => Promise<void>;
}

export async function openOwnStack(say: (line: string) => void, brokers: 1 | 3 = 1): Promise<OwnStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'recourse-crash-'));
  const ended: string[] = [];
  const stack = await startStack({
    dataDir,
    brokers,
    onProgress: say,
    onPartExit: (part, how) => {
      ended.push(`${part} ended by itself: ${how}`);
    },
  });
  return {
    stack,
    ended,
    close: async (keep) => {
      await stack.stop();
      if (keep) return;
      await wipe(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
