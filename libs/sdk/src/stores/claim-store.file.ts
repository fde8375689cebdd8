// Claims as files of one directory, for the workers of one host: a name is made once, and stays.
//
// Invariants
//   I1. The name exists and the directory is on disk before a grant is answered.
//   I2. A crash between the two leaves the claim taken, which is answered `unknown`: nothing runs twice.
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '@recourse/kernel';
import type { Claim, ClaimStore } from './claim-store.port.js';
import { failedWith, syncDirectory } from './durable-file.js';

/** Claims as files of one host, durable before they are granted. */
export class FileClaimStore implements ClaimStore {
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
      await file.sync();
    } finally {
      await file.close();
    }
    await syncDirectory(this.directory);
    return 'granted';
  }
}
