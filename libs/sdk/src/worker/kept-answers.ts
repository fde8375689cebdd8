// The answers a worker keeps, to answer a copy of a request alike; a copy of an older one is run again, which is harmless.
import type { LegReported } from '@recourse/messages';
import { bytesAtMost } from '../producer/fitting.js';

/** Bounds of what is kept: a report may hold as much as a record does, and a worker has the memory of a small process. */
const ANSWERS_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;

export class KeptAnswers {
  private readonly answers = new Map<string, { readonly report: LegReported; readonly bytes: number }>();
  private bytes = 0;

  of(key: string): LegReported | undefined {
    return this.answers.get(key)?.report;
  }

  /** Keeps an answer, and as many of those before as fit beside it. */
  keep(key: string, report: LegReported): void {
    const bytes = bytesAtMost(report);
    this.drop(key);
    this.answers.set(key, { report, bytes });
    this.bytes += bytes;
    for (const oldest of this.answers.keys()) {
      if (oldest === key || (this.answers.size <= ANSWERS_MAX && this.bytes <= BYTES_MAX)) return;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    this.bytes -= this.answers.get(key)?.bytes ?? 0;
    this.answers.delete(key);
  }
}
