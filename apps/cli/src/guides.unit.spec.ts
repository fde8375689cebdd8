// Every command that a page for people names is one of the command line, with arguments and options that it takes.
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { readdirSync, readFileSync } from 'node:fs';
import { createProgram } from './program.js';
import { REMEDIES } from './remedies.js';

const pages = ['README.md', 'docs/proof.md', ...pagesIn('docs/guides'), ...pagesIn('docs/design')];

describe.each(pages)('the page %s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('has only commands that parse', () => {
    expect(linesIn(text).flatMap((line) => problemsOf(line))).toEqual([]);
  });

  it('names only commands and options that there are', () => {
    expect(mentionsIn(text).flatMap((words) => mentionProblems(words))).toEqual([]);
  });
});

it('what to do about a refusal names only commands and options that there are', () => {
  const mentions = mentionsIn(Object.values(REMEDIES).join('\n'));
  expect(mentions.length).toBeGreaterThan(40);
  expect(mentions.flatMap((words) => mentionProblems(words))).toEqual([]);
});

it.each(sources())('%s tells people of no command and no option that there is not', (file) => {
  expect(mentionsIn(readFileSync(file, 'utf8')).flatMap((words) => mentionProblems(words))).toEqual([]);
});

it('a command that is none, an option nobody knows, and an argument too few are noticed', () => {
  const lines = [
    'npx recourse itemz',
    'npx recourse items --kindly',
    'npx recourse budgets approve "$E"',
    'npx recourse items > out',
  ];
  expect(lines.map((line) => problemsOf(line).length)).toEqual([1, 1, 1, 0]);
  const mentions = mentionsIn(
    '`npx recourse rollbacks lst`, `recourse log accept-cut --by <who> --not`, `recourse items --kind`',
  );
  expect(mentions.map((words) => mentionProblems(words).length)).toEqual([1, 1, 0]);
});

/** Lines of the shell blocks that call the command line. */
function linesIn(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => /^\s*(?:[A-Z_]+=\S+ )*(?:npx )?recourse /.test(line));
}

/** Commands named in running text, as their words up to the first placeholder. */
function mentionsIn(markdown: string): readonly (readonly string[])[] {
  return [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`(?:npx )?recourse ([a-z][^`]*)`/g)].map(
    ([, words = '']) => words.split(/\s+/),
  );
}

/** What the command line says against a line, were it run; nothing is. */
function problemsOf(line: string): readonly string[] {
  const [, rest = ''] = /recourse (.*)$/.exec(line) ?? [];
  const [called = ''] = rest.split(/ (?:>|\||&&) /, 1);
  const words = [...called.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, two, bare]) => one ?? two ?? bare ?? '',
  );
  const comment = words.indexOf('#');
  const said: string[] = [];
  const program = idle(said);
  try {
    program.parse(comment < 0 ? words : words.slice(0, comment), { from: 'user' });
    return [];
  } catch (thrown) {
    return [`${line.trim()}: ${thrown instanceof Error ? thrown.message : String(thrown)}`];
  }
}

/** Words of a mention that lead nowhere: a command that a group has not, an option that its command does not take. */
function mentionProblems(words: readonly string[]): readonly string[] {
  let command = idle([]);
  for (const [at, word] of words.entries()) {
    if (isValue(command, words[at - 1])) continue;
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next !== undefined) command = next;
    else if (word.startsWith('--')) {
      if (!optionsOf(command).includes(word.replace(/[,.;=].*$/, ''))) return [`${words.join(' ')}: ${word}`];
    } else if (/^[a-z][a-z-]*$/.test(word) && command.commands.length > 0) return [`${words.join(' ')}: ${word}`];
  }
  return [];
}

/** True where the word before is an option that takes one: a group that acts by itself has options, too. */
function isValue(command: Command, before: string | undefined): boolean {
  return command.options.some(({ long, required }) => required && long === before);
}

function optionsOf(command: Command): readonly string[] {
  const own = command.options.map(({ long }) => long ?? '');
  return command.parent === null ? [...own, '--help'] : [...own, ...optionsOf(command.parent)];
}

/** The command line, in which no command does anything. */
function idle(said: string[]): Command {
  const program = createProgram(
    {
      terminal: {
        out: () => undefined,
        note: (text) => void said.push(text),
        isInteractive: false,
        ask: () => Promise.resolve(''),
      },
      environment: {},
      folder: '.',
      fetch,
    },
    () => undefined,
  );
  quieten(program);
  return program;
}

function quieten(command: Command): void {
  // A group may do something by itself, too: commander keeps that under this name alone.
  const acts: unknown = Reflect.get(command, '_actionHandler');
  if (command.commands.length === 0 || typeof acts === 'function') command.action(() => undefined);
  command.commands.forEach(quieten);
}

/** Sources of the command line that name a command of it. */
function sources(): readonly string[] {
  return readdirSync('apps/cli/src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => `apps/cli/src/${name}`)
    .filter((file) => mentionsIn(readFileSync(file, 'utf8')).length > 0)
    .sort();
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}
