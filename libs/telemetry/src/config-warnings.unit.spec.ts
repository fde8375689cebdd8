import { describe, expect, it } from '@jest/globals';
import { logUnknown } from './config-warnings.js';

describe('a variable that a program does not read', () => {
  it.each([{ instance: 'b' }, {}])(
    'is logged with a code and its name, by the program as it calls itself: %j',
    (named) => {
      const lines: unknown[] = [];
      const warn = logUnknown('notifier', (options) => ({
        warn: (...said: readonly unknown[]) => lines.push([options, ...said]),
      }));
      warn({ variable: 'RECOURSE_TYPO', message: 'RECOURSE_TYPO is no variable' }, { ...named, logLevel: 'warn' });
      expect(lines).toEqual([
        [
          { service: 'notifier', instance: '1', level: 'warn', ...named },
          { code: 'CONFIG_UNKNOWN', variable: 'RECOURSE_TYPO' },
          'RECOURSE_TYPO is no variable',
        ],
      ]);
    },
  );
});
