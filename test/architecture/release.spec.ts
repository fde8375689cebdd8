// What surrounds a commit and a release: subjects, versions, the changelog's headings.
import { describe, expect, it } from '@jest/globals';
import { nextVersion, releaseNotes, withVersion } from '../../scripts/lib/release.mjs';
import { subjectProblems } from '../../scripts/lib/subject.mjs';
import { textOf } from './tree.testing.js';

describe('a subject', () => {
  it.each([
    'Add the notifier',
    'Process retries in order\n\nA body may say anything. It may end as it likes.',
    'Stop the loop: it read its own tail twice',
    `Name ${'x'.repeat(67)}`,
    "Merge branch 'kafka' of another place with a name that goes on and on and on and on",
    'fixup! whatever',
    '# a comment of git\nSay what is so',
  ])('%j is good', (message) => {
    expect(subjectProblems(message)).toEqual([]);
  });

  it.each([
    ['', 'empty'],
    [`Name ${'x'.repeat(68)}`, '73 characters'],
    ['add the notifier', 'capital letter'],
    ['Add the notifier.', 'full stop'],
    ['A consumer whose clock is set back waits no longer', 'imperative'],
    ['Added the notifier', 'imperative'],
    ['Adding the notifier', 'imperative'],
    ['Adds the notifier', 'imperative'],
  ])('%j is not', (message, problem) => {
    expect(subjectProblems(message).join(' ')).toContain(problem);
  });

  it('is checked by the hook that an installation sets up', () => {
    expect(textOf('.githooks/commit-msg')).toContain('scripts/commit-msg.mjs');
    expect(textOf('scripts/prepare.mjs')).toContain(`'core.hooksPath', '.githooks'`);
    expect((JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts['prepare']).toBe(
      'node scripts/prepare.mjs',
    );
  });
});

describe('a version', () => {
  it.each([
    ['0.1.0', 'patch', '0.1.1'],
    ['0.1.9', 'minor', '0.2.0'],
    ['0.9.9', 'major', '1.0.0'],
    ['0.1.0', '0.1.10', '0.1.10'],
    ['0.9.0', '0.10.0', '0.10.0'],
  ])('after %s, %s, is %s', (current, wish, next) => {
    expect(nextVersion(current, wish)).toBe(next);
  });

  it.each([
    ['0.2.0', '0.1.9'],
    ['0.2.0', '0.2.0'],
    ['0.2.0', 'next'],
  ])('after %s is not %s', (current, wish) => {
    expect(() => nextVersion(current, wish)).toThrow(wish);
  });

  it('is set for every package of ours and for nobody else', () => {
    const lock = {
      version: '0.1.0',
      packages: { '': { version: '0.1.0' }, 'libs/a': { version: '0.1.0' }, 'node_modules/b': { version: '0.1.0' } },
    };
    expect(withVersion(lock, '0.2.0')).toEqual({
      version: '0.2.0',
      packages: { '': { version: '0.2.0' }, 'libs/a': { version: '0.2.0' }, 'node_modules/b': { version: '0.1.0' } },
    });
  });
});

describe('the changelog', () => {
  it('gives what was unreleased a heading, and begins anew', () => {
    const { changelog, notes } = releaseNotes(
      '# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n',
      '0.2.0',
      '2026-05-01',
    );
    expect(notes).toBe('### Added\n\n- One.');
    expect(changelog).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-05-01)\n\n### Added\n\n- One.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n',
    );
  });

  it('without anything unreleased is refused', () => {
    expect(() =>
      releaseNotes('# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n', '0.2.0', '2026-05-01'),
    ).toThrow('CHANGELOG.md');
  });

  it('of this tree can be released', () => {
    expect(releaseNotes(textOf('CHANGELOG.md'), '9.9.9', '2026-05-01').notes).not.toBe('');
  });
});
