// Agreements as lines of one file, for the processes of one host: who agreed to what, who took it back, who recorded it and when.
import { join } from 'node:path';
import type { Clock } from '@recourse/kernel';
import { JsonLines } from '../stores/json-lines.js';
import { consentKey } from './consents.port.js';
import type { Consent, Consents } from './consents.port.js';

const FILE = 'consents.jsonl';

/** Agreements of one host. The file is kept whole: it is the proof of what was agreed, and when it was taken back. */
export class FileConsents implements Consents {
  private readonly agreed = new Map<string, boolean>();
  private readonly lines: JsonLines;

  constructor(
    directory: string,
    private readonly clock: Clock,
  ) {
    this.lines = new JsonLines(join(directory, FILE));
  }

  async has(consent: Consent): Promise<boolean> {
    await this.lines.readOn((line) => {
      if (isLine(line)) this.agreed.set(consentKey(line), line.agreed);
    });
    return this.agreed.get(consentKey(consent)) ?? false;
  }

  grant(consent: Consent, by: string): Promise<void> {
    return this.tell(consent, by, true);
  }

  withdraw(consent: Consent, by: string): Promise<void> {
    return this.tell(consent, by, false);
  }

  private tell({ tenant, subject, purpose }: Consent, by: string, agreed: boolean): Promise<void> {
    return this.lines.append({ tenant, subject, purpose, agreed, by, at: this.clock.now() });
  }
}

function isLine(value: unknown): value is Consent & { readonly agreed: boolean } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'agreed' in value &&
    typeof value.agreed === 'boolean' &&
    ['tenant', 'subject', 'purpose'].every((name) => name in value)
  );
}
