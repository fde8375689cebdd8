// Programs that are told to stop. As process 1 of a container none dies of a signal that nobody hears: so all of them hear it in one way.
import { describe, expect, it } from '@jest/globals';
import { filesBelow, textOf } from './tree.testing.js';

const HEARS_BY_ITSELF = /\bprocess\.(?:once|on)\(\s*(?:signal\b|'SIG)/;
/** Programs that are no service, where each of them begins; a service hears signals by its host. */
const PROGRAMS = {
  notifier: 'apps/notifier/src/run-notifier.ts',
  auditor: 'apps/auditor/src/run-auditor.ts',
  witness: 'apps/auditor/src/witness.main.ts',
  console: 'apps/console/src/main.ts',
};

describe('a program that is told to stop', () => {
  it.each(Object.entries(PROGRAMS))('hears it before it waits for anything: %s', (_name, file) => {
    const [heard, waited] = [/\bstopOnSignal\(\)/, /\bawait\s/].map((what) => textOf(file).search(what));
    expect(heard).toBeGreaterThan(0);
    expect(waited === -1 || (heard ?? 0) < (waited ?? 0)).toBe(true);
  });

  it('hears it in no way of its own', () => {
    const sources = filesBelow('apps').filter((file) => /^apps\/[^/]+\/src\/.*(?<!\.spec)\.ts$/.test(file));
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((file) => HEARS_BY_ITSELF.test(textOf(file)))).toEqual([]);
  });
});
