// One Jest configuration; the suites are chosen by file suffix (see scripts/jest.mjs).
import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

export default {
  rootDir: '.',
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.recourse/', '<rootDir>/.cache/'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, sourceMaps: 'inline' }] },
  moduleNameMapper: {
    '^@recourse/(kernel|messages|chain|contract|kafka|event-log|config|telemetry|testing|sdk|service|lineage|audit)$':
      '<rootDir>/libs/$1/src/index.ts',
    '^@recourse/(contract-registry|mutation-ledger|recovery-orchestrator|budget-accountant|notifier|auditor|cli|console)$':
      '<rootDir>/apps/$1/src/index.ts',
    '^@recourse/dev-stack$': '<rootDir>/deploy/dev/src/index.ts',
    '^@recourse/test-(simulation|bench|crash)$': '<rootDir>/test/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  testTimeout: 30_000,
  // A worker keeps a part of the modules of each suite it ran; after some three hundred it would stand at Node's limit (4 GB).
  workerIdleMemoryLimit: '2GB',
};
