// Of the console: what it says and offers about things that wait, and whose they are.
import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'console-money-of-arguments',
    requirement: 'console/lists',
    spec: 'apps/console/page/api/stakes.unit.spec.ts',
    test: 'the money in what waits is nothing that an agent wrote into arguments',
    file: 'apps/console/page/api/stakes.ts',
    find: "const value = fieldIn(row, 'execution', 'value');",
    replace: "const value = fieldIn(row, 'execution', 'value') ?? fieldIn(row, 'args', 'body');",
  },
  {
    id: 'console-money-of-several',
    requirement: 'console/lists',
    spec: 'apps/console/page/api/stakes.unit.spec.ts',
    test: 'the money in what waits is what a question of the accountant is about, and not one of several amounts',
    file: 'apps/console/page/api/stakes.ts',
    find: 'money.length > 1 ? undefined :',
    replace: 'money.length > 9 ? undefined :',
  },
];
