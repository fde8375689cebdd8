// Settings as files of an environment hold them: NAME=value a line; what is empty or begins with # says nothing.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliProblem } from '../problem.js';

const LINE = /^(RECOURSE_[A-Z0-9_]+)=(.*)$/;

/** Errors: CliProblem(FILE_UNREADABLE, SETTING_UNREADABLE). */
export function settingsIn(file: string, folder: string): Readonly<Record<string, string>> {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), 'utf8');
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} cannot be read`, 'usage', { cause, remedy: 'Name a file.' });
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => settingIn(line, file)));
}

function settingIn(line: string, file: string): readonly [string, string] {
  const [, name, value] = LINE.exec(line) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new CliProblem('SETTING_UNREADABLE', `${file} holds a line that is no setting`, 'usage', {
    remedy: 'Write RECOURSE_NAME=value, one a line.',
  });
}
