// The report of an eval as people read it, and as JUnit has it. Pure.
import { formatTable } from '../output/table.js';
import type { Column } from '../output/table.js';
import { visibleOnOneLine } from '../output/visible.js';
import type { CaseReport, EvalReport } from './grade.js';

const COLUMNS: readonly Column<CaseReport>[] = [
  { title: 'CASE', of: ({ id }) => id },
  { title: 'RUN', of: ({ run_id: run }) => run },
  { title: 'OUTCOME', of: ({ passed }) => (passed ? 'pass' : 'fail') },
  { title: 'TRAJECTORY', of: ({ trajectory_score: score }) => score?.toFixed(3), align: 'right' },
  { title: 'CALLS', of: ({ calls }) => calls.length, align: 'right' },
];

/** A table, and below it what failed. */
export function evalText({ suite, cases, cases_passed, cases_failed, trajectory_score }: EvalReport): string {
  const failed = cases.filter(({ passed }) => !passed);
  return [
    formatTable(COLUMNS, cases),
    ...failed.flatMap(({ id, failures }) => [
      '',
      visibleOnOneLine(id),
      ...failures.map((line) => `  ${visibleOnOneLine(line)}`),
    ]),
    '',
    `${visibleOnOneLine(suite)}: ${String(cases_passed)} passed, ${String(cases_failed)} failed` +
      (trajectory_score === null ? '' : `, trajectory_score=${trajectory_score.toFixed(3)}`),
  ].join('\n');
}

/** JUnit XML: a case is a test of the suite, its lines the failure. No times: a report of the same runs is the same file. */
export function junit({ suite, cases, cases_failed }: EvalReport): string {
  const name = xml(suite);
  const counts = `tests="${String(cases.length)}" failures="${String(cases_failed)}" errors="0" skipped="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${counts}>`,
    `  <testsuite name="${name}" ${counts}>`,
    ...cases.flatMap(({ id, passed, failures }) => {
      const opened = `    <testcase classname="${name}" name="${xml(id)}"`;
      return passed
        ? [`${opened}/>`]
        : [
            `${opened}>`,
            `      <failure message="${xml(failures[0] ?? '')}">${xml(failures.join('\n'))}</failure>`,
            '    </testcase>',
          ];
    }),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Text of XML 1.0: what it cannot hold becomes U+FFFD. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
