// recourse init: a folder with an agent, the tool it acts through, a worker that undoes what it did, and their contracts.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { manifestOf } from '../init/manifest.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const TEMPLATE = fileURLToPath(new URL('../../template/', import.meta.url));
/** Where `npm run pack:sdk` keeps its archives. */
const ARCHIVES = join(ROOT, '.cache', 'release');
/** Where `npm start` keeps its data, where none was found. */
const DATA_DIR = join(ROOT, '.recourse', 'data');
const IGNORED = ['node_modules/', '.env', '.recourse/', 'rooms.json', ''].join('\n');

/** What comes next, as docs/guides/guard-a-tool.md has it. */
const NEXT: readonly ((folder: string) => string)[] = [
  (folder) => `Next, here:   npx recourse contract register ${join(folder, 'contracts')}`,
  () => 'Then, there:  npm install, npm run worker in a terminal of its own, and npm run agent',
];

export function addInit(program: Command, act: Act): void {
  program
    .command('init')
    .description(
      'lays an agent, its tool, a worker that undoes what it did, and their contracts in an empty folder; they find the stack that runs here',
    )
    .argument('<folder>', 'made where it is not there; it has to be empty')
    .option('--sdk <folder>', 'where the archives of the SDK are; unless told where `npm run pack:sdk` keeps them')
    .action(
      act<{ readonly sdk?: string }>((session, { sdk = ARCHIVES }, folder = '') =>
        init(session, resolve(session.folder, folder), resolve(session.folder, sdk)),
      ),
    );
}

function init(session: Session, folder: string, sdk: string): Promise<undefined> {
  const isFile = existsSync(folder) && !statSync(folder).isDirectory();
  if (isFile || (existsSync(folder) && readdirSync(folder).length > 0))
    throw new CliProblem('FOLDER_NOT_EMPTY', `${folder} ${isFile ? 'is a file' : 'holds something already'}`, 'usage', {
      remedy: 'Name another folder; it is made where it is not there.',
    });
  const archives = archivesIn(sdk);
  const manifest = manifestOf(basename(folder), archives, versionsOfTools());
  layOut(folder, {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    '.gitignore': IGNORED,
    '.env': `RECOURSE_DATA_DIR=${JSON.stringify(session.settings.dataDir ?? DATA_DIR)}\n`,
  });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  session.show({ folder, files }, () =>
    [`laid out in ${folder}:`, ...files.map((file) => `  ${file}`), '', ...NEXT.map((step) => step(folder))].join('\n'),
  );
  return Promise.resolve(undefined);
}

/** Archives of the SDK and of what it stands on. Errors: CliProblem(SDK_NOT_PACKED). */
function archivesIn(sdk: string): readonly string[] {
  const found = existsSync(sdk) ? readdirSync(sdk).filter((name) => /^recourse-.*\.tgz$/.test(name)) : [];
  if (found.some((name) => name.startsWith('recourse-sdk-'))) return found.sort().map((name) => join(sdk, name));
  throw new CliProblem('SDK_NOT_PACKED', `${sdk} holds no archive of the SDK`, 'usage', {
    remedy: 'Run `npm run pack:sdk`, or name its folder with --sdk.',
  });
}

/** Versions of the tools that the project checks its types with: those of this tree. */
function versionsOfTools(): Readonly<Record<string, string>> {
  // npm writes it.
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return devDependencies;
}

/** Errors: CliProblem(FOLDER_UNWRITABLE). */
function layOut(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    makeFolder(folder);
    cpSync(TEMPLATE, folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  } catch (cause) {
    throw new CliProblem('FOLDER_UNWRITABLE', `${folder} cannot be made, or not be written`, 'usage', {
      cause,
      remedy: 'Name a folder you may write to.',
    });
  }
}

/** Level by level: Node's own recursive mkdir never returns for a place like /proc/x that exists and takes no folders. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}
