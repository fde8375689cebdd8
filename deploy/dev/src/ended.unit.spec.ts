import { describe, expect, it } from '@jest/globals';
import type { Environment } from '@recourse/config';
import { parseStartOptions } from '../../../scripts/lib/start-options.mjs';
import { adaptersIn } from './adapters.js';
import { deathOf } from './ended.js';
import { howToVerify } from './signed-story.js';

describe('a part of the stack that was killed', () => {
  const told = (...args: readonly string[]): string => deathWith({}, ...args);
  const deathWith = (environment: Environment, ...args: readonly string[]): string =>
    deathOf('mutation-ledger', 'signal SIGKILL', '/data/logs', {
      ...parseStartOptions(args, environment),
      adapters: adaptersIn(environment),
    });

  it('is told with what became of the others, what is lost, and how it all starts again', () => {
    expect(told().split('\n')).toEqual([
      'mutation-ledger stopped unexpectedly: signal SIGKILL. See /data/logs/mutation-ledger.log.',
      expect.stringMatching(/^Everything else is stopped with it\. Nothing is lost: `npm start` starts it again/),
    ]);
  });

  it('starts again as the stack that it was', () => {
    expect(told('--secure', '--data-dir', '/elsewhere', '--once')).toContain(
      '`npm start -- --secure --data-dir /elsewhere`',
    );
  });

  it('starts again from a folder whose name a shell would take apart', () => {
    expect(told('--data-dir', "/my stack/o'h")).toContain(`\`npm start -- --data-dir '/my stack/o'\\''h'\``);
  });

  it('starts again with the adapters it had, and plays no story where it played none', () => {
    expect(deathWith({ RECOURSE_ADAPTERS: 'rooms,mail' }, '--secure', '--scenario', 'none')).toContain(
      '`RECOURSE_ADAPTERS=rooms,mail npm start -- --secure --scenario none`',
    );
  });
});

describe('the end of a story', () => {
  it('says how its logs are verified while a stack is up, and how from a dump', () => {
    const audited = { headsFile: '/d/heads', auditorKeyFile: '/d/auditor.vkey', witnessKeyFile: '/d/witness.vkey' };
    const [first, whileUp, later] = howToVerify(audited, '/d').map((line) => line.trim());
    expect(first).toBe('Anybody can check that, without our services:');
    expect(whileUp).toMatch(
      /^while the stack is up: +npx recourse --data-dir \/d audit verify --auditor-key \/d\/auditor.vkey$/,
    );
    expect(later).toMatch(
      /^later, from a dump made then: +npx recourse --data-dir \/d audit dump the-logs, and npx recourse audit verify --dump the-logs --auditor-key \/d\/auditor.vkey$/,
    );
  });
});
