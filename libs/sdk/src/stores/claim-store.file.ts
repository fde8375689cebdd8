// Claims as files of one directory, for the workers of one host: a name is made once, and stays.
//
// Invariants
//   I1. The name exists and the directory is on disk before a grant is answered. What the file says is for people; the name decides.
//   I2. A crash between the two leaves the claim taken: nothing runs twice.
//   I3. The directory is forced to disk once at a time; claims made meanwhile share the next time, so a claim waits for two at most.
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '@recourse/kernel';
import type { Claim, ClaimStore } from './claim-store.port.js';
import { failedWith, syncDirectory } from './durable-file.js';

/** Claims as files of one host, durable before they are granted. */
export class FileClaimStore implements ClaimStore {
  private current: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  constructor(private readonly directory: string) {}

  async claim(claim: Claim): Promise<'granted' | 'taken'> {
    await mkdir(this.directory, { recursive: true });
    const path = join(this.directory, `${sha256Hex(JSON.stringify([claim.stepId, claim.attempt]))}.json`);
    const file = await open(path, 'wx').catch((error: unknown) => {
      if (failedWith('EEXIST', error)) return null;
      throw error;
    });
    if (file === null) return 'taken';
    try {
      await file.writeFile(`${JSON.stringify(claim)}\n`);
    } finally {
      await file.close();
    }
    await this.sync();
    return 'granted';
  }

  /** Resolves when the directory was forced to disk by a write that began after this call. */
  private sync(): Promise<void> {
    if (this.current === null) {
      this.current = syncDirectory(this.directory).finally(() => {
        this.current = null;
      });
      return this.current;
    }
    this.next ??= this.current
      .catch(() => undefined)
      .then(() => {
        this.next = null;
        return this.sync();
      });
    return this.next;
  }
}
