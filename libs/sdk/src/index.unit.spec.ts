import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const FOLDER = 'libs/sdk/src';
const PRIVATE = /\.(?:unit\.spec|contract\.spec|contract|testing)\.ts$/;

/** What every published module of a folder exports, by its names. */
function modules(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !PRIVATE.test(entry.name))
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
}

/** Words a user of the subsystems of this package needs; each is exported by the module that holds it. */
const WORDS = [
  'connect',
  'ConnectProblem',
  'guard',
  'guardCompensation',
  'guardFunction',
  'guardMcp',
  'guardExecute',
  'createProducer',
  'createWorker',
  'createNotificationConsumer',
  'effectKey',
  'mutationId',
  'verdictFor',
  'ERROR_KINDS',
  'directiveFor',
  'PLAYBOOK',
  'toolCatalog',
  'recoverabilityNote',
  'classify',
  'markedPayload',
  'memoryReads',
  'releaseDiff',
  'releaseStatement',
  'HttpBudget',
  'HttpApprovals',
  'HttpStanding',
  'HttpEntries',
  'cachedEntries',
  'checkArgs',
  'runLeg',
  'decideStep',
  'ToolRejected',
  'FileClaimStore',
  'FilePositionStore',
  'systemClock',
  'forwardFinding',
];

describe('the package (D67)', () => {
  it('has one entry', () => {
    const { exports } = JSON.parse(readFileSync('libs/sdk/package.json', 'utf8')) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    expect(Object.keys(exports)).toEqual(['.']);
    expect(existsSync(`${FOLDER}/index.ts`)).toBe(true);
  });

  it('says which Node it needs before anything else of it is run', () => {
    const { sideEffects } = JSON.parse(readFileSync('libs/sdk/package.json', 'utf8')) as {
      readonly sideEffects: unknown;
    };
    expect(readFileSync(`${FOLDER}/index.ts`, 'utf8')).toMatch(/^import '\.\/node-version\.js';/);
    // A bundler that is told of no side effects leaves the import out.
    expect(sideEffects).toEqual(['./dist/node-version.js']);
  });

  it('reaches every word from it', async () => {
    const entry = await import('./index.js');
    expect(WORDS.filter((word) => !(word in entry))).toEqual([]);
  });

  it('leaves out no adapter of a port that users are meant to plug in', async () => {
    const entry = await import('./index.js');
    const adapters = modules(FOLDER)
      .filter((path) => /\.(?:http|file|memory)\.ts$/.test(path))
      .flatMap((path) => readFileSync(path, 'utf8').match(/(?<=^export class )\w+/gm) ?? []);
    expect(adapters.length).toBeGreaterThan(8);
    expect(adapters.filter((name) => !(name in entry))).toEqual([]);
  });
});
