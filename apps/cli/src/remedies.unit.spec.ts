import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { root } from '../../../scripts/lib/paths.mjs';
import { REMEDIES, SAY_IT_THEMSELVES } from './remedies.js';

/** What only programs are answered: guards, workers and consumers, never a person's command. */
const OF_PROGRAMS = [
  'AGENT_UNNAMED',
  'APPROVAL_OF_ANOTHER',
  'ARGS_UNREADABLE',
  'ATTEMPT_INVALID',
  'CONTRACT_MISMATCH',
  'EFFECT_OF_ANOTHER',
  'KEY_MISMATCH',
  'MODE_UNKNOWN',
  'NOT_HELD',
  'RESERVATION_CONFLICT',
  'RESERVATION_DENIED',
  'RESERVATION_OF_ANOTHER',
  'RESERVATION_UNKNOWN',
  'RESERVATION_WRONG_PHASE',
  'ROUTINE_STOPPED',
  'RUNG_TOO_LOW',
  'VERDICT_UNKNOWN',
];

/** Every code that a service refuses a command with, as the page of codes has them from the services' tables. */
function refusals(): readonly string[] {
  const page = readFileSync(join(root, 'docs', 'reference', 'failures.md'), 'utf8');
  const section = page.split('## Refusals of commands')[1]?.split('\n## ')[0] ?? '';
  return [...new Set([...section.matchAll(/`([A-Z_]+)` \(\d{3}\)/gu)].map(([, code = '']) => code))].sort();
}

it('says what to do about every refusal that a person’s command may get', () => {
  expect(refusals().length).toBeGreaterThan(80);
  const said = (code: string): boolean => code in REMEDIES || [...SAY_IT_THEMSELVES, ...OF_PROGRAMS].includes(code);
  expect(refusals().filter((code) => !said(code))).toEqual([]);
});

it('says it once: no code has a remedy and words of its own, and none is excused that no service answers', () => {
  const excused = [...SAY_IT_THEMSELVES, ...OF_PROGRAMS];
  expect(excused.filter((code) => code in REMEDIES)).toEqual([]);
  expect(excused.filter((code) => !refusals().includes(code))).toEqual([]);
});

it('says nothing by a code that the page of codes does not hold, of however many words', () => {
  const folder = join(root, 'apps', 'cli', 'src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/(?:spec|testing)\.ts$/u.test(file),
  );
  const said = sources.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/new CliProblem\(\s*'([^']+)'/gu)].map(
      ([, code = '']) => code,
    ),
  );
  const page = readFileSync(join(root, 'docs', 'reference', 'failures.md'), 'utf8');
  expect(said).toContain('DECLINED');
  expect([...new Set(said)].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
