// node scripts/commit-msg.mjs FILE: git's commit-msg hook. Refuses a subject that a reader of the log cannot use.
import { readFileSync } from 'node:fs';
import { subjectProblems } from './lib/subject.mjs';

const problems = subjectProblems(readFileSync(process.argv[2], 'utf8'));
if (problems.length > 0) {
  console.error(
    `This commit needs another subject (CONTRIBUTING.md, Commits):\n${problems.map((one) => `  - ${one}`).join('\n')}`,
  );
  process.exitCode = 1;
}
