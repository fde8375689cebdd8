// The most memory this process ever held.
import { readFileSync } from 'node:fs';

const STATUS = '/proc/self/status';

/** Megabytes. Where Linux tells it, of this program alone: what `resourceUsage` says also counts the process it was forked from. */
export function peakRssMb(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(textOf(STATUS))?.[1];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) / 1_024;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
