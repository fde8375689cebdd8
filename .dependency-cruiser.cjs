// Imports between folders (docs/design/architecture.md, docs/design/style.md, section 9). Arrows point one way: apps → libs → kernel.
// What a single line may say is ESLint's (eslint.config.mjs); unused code is knip's (knip.json).

/** Code that proves other code: it may reach for testing tools, nothing else is looser for it. */
const PROOF = String.raw`\.(spec|contract|testing)\.ts$|^libs/testing/|^libs/kafka/src/testing/|^test/|^deploy/dev/`;

/** What each library may import of ours. A library that is missing here may import none. */
const LIBRARIES = {
  kernel: [],
  chain: ['kernel'],
  messages: ['kernel', 'chain'],
  contract: ['kernel', 'chain', 'messages'],
  lineage: ['kernel', 'messages'],
  audit: ['kernel', 'chain'],
  config: ['kernel'],
  telemetry: ['kernel'],
  kafka: ['kernel', 'chain'],
  'event-log': ['kernel', 'chain', 'messages', 'kafka'],
  service: ['kernel', 'chain', 'messages', 'contract', 'kafka', 'event-log', 'config', 'telemetry'],
  sdk: ['kernel', 'chain', 'messages', 'contract', 'lineage', 'kafka'],
  testing: ['kernel', 'chain', 'messages', 'contract', 'lineage', 'kafka', 'event-log'],
};

const PURE = ['kernel', 'chain', 'messages', 'contract', 'lineage'];
const FRAMEWORKS = '^node_modules/(@nestjs|@fastify|fastify|typeorm|pg|pg-copy-streams)/';
const INPUT_OUTPUT =
  '^(node:)?(fs|fs/promises|net|http|https|http2|tls|dgram|dns|child_process|worker_threads|cluster|process|timers|timers/promises|readline)$';

/**
 * Rooms of an app. The rules are pure; the core is the table that is made of them (`core.ts` and `rows.ts`, and what their
 * lines call in `core/` and `rows/`); the edge touches the world.
 */
const RULES = '^apps/[^/]+/src/rules/';
const CORE = String.raw`^apps/([^/]+)/src/(rules/|core/|rows/|[a-z.-]*core\.ts$|[a-z.-]*rows\.ts$)`;
const EDGE = String.raw`(http|reads|follower|sender|store)/|main\.ts$|app\.module\.ts$`;

/** One rule per library: the row of the table above. Proof may also use libs/testing. */
function libraryRules() {
  return Object.entries(LIBRARIES).map(([name, allowed]) => ({
    name: `libs-${name}`,
    comment: `libs/${name} may import of ours only: ${allowed.join(', ') || 'nothing'}.`,
    severity: 'error',
    from: { path: `^libs/${name}/`, pathNot: String.raw`\.(spec|contract|testing)\.ts$` },
    to: { path: '^libs/', pathNot: `^libs/(${[name, ...allowed].join('|')})/` },
  }));
}

const rules = [
  {
    name: 'no-cycles',
    comment: 'A cycle has no order in which to be understood. (Generated types of two namespaces may name each other.)',
    severity: 'error',
    from: { pathNot: '^libs/messages/src/generated/' },
    to: { circular: true },
  },
  {
    name: 'resolvable',
    comment:
      'An import that resolves to nothing escapes every other rule. The packages of the peers bench are installed when it is run.',
    severity: 'error',
    from: { pathNot: '^test/bench/peers/' },
    to: { couldNotResolve: true },
  },
  {
    name: 'libs-listed',
    comment: 'A new library states in LIBRARIES what it may import.',
    severity: 'error',
    from: { path: '^libs/', pathNot: `^libs/(${Object.keys(LIBRARIES).join('|')})/` },
    to: { path: '^libs/' },
  },
  {
    name: 'libs-below',
    comment: 'Libraries know nothing of what is built on them.',
    severity: 'error',
    from: { path: '^libs/', pathNot: PROOF },
    to: { path: '^(apps|deploy|examples|test)/' },
  },
  {
    name: 'library-specs-below',
    comment: 'Specs of a library may start the development stack and know nothing else above them.',
    severity: 'error',
    from: { path: '^libs/' },
    to: { path: '^(apps|examples|test)/' },
  },
  {
    name: 'apps-are-islands',
    comment: 'Services read logs of each other, never code (docs/design/architecture.md).',
    severity: 'error',
    from: { path: '^apps/([^/]+)/' },
    to: { path: '^apps/', pathNot: '^apps/$1/' },
  },
  {
    name: 'apps-know-no-stack',
    comment: 'An app runs anywhere; the development stack, the examples and the suites are above it.',
    severity: 'error',
    from: { path: '^apps/', pathNot: String.raw`\.(integration|e2e|contract)\.(spec|testing)\.ts$` },
    to: { path: '^(deploy|examples|test)/' },
  },
  {
    name: 'apps-get-kafka-from-outside',
    comment: 'The core of an app is functions over data: Kafka, store and edge come in through main and module.',
    severity: 'error',
    from: { path: CORE, pathNot: PROOF },
    to: { path: '^libs/(kafka|service|config|telemetry|sdk|testing)/' },
  },
  {
    name: 'rules-are-pure',
    comment: 'rules/ see only themselves and the pure libraries (and the types of event-log, below).',
    severity: 'error',
    from: { path: RULES, pathNot: PROOF },
    to: {
      path: ['^libs/', '^apps/'],
      pathNot: [`^libs/(${PURE.join('|')})/`, '^libs/event-log/', RULES],
    },
  },
  {
    name: 'rules-use-types-of-the-loop',
    comment: 'rules/ may name the shapes of libs/event-log; what runs there belongs to the core.',
    severity: 'error',
    from: { path: RULES, pathNot: PROOF },
    to: { path: '^libs/event-log/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'rules-need-no-package',
    comment: 'Rules are plain TypeScript.',
    severity: 'error',
    from: { path: RULES, pathNot: PROOF },
    to: { path: '^node_modules/' },
  },
  {
    name: 'cores-do-no-io',
    comment: 'decide and evolve are pure (L1, L2): no I/O in the pure libraries, in rules and in cores.',
    severity: 'error',
    from: {
      path: [`^libs/(${PURE.join('|')})/src/`, CORE],
      pathNot: String.raw`\.(spec|testing)\.ts$`,
    },
    to: { path: INPUT_OUTPUT },
  },
  {
    name: 'nest-is-wiring',
    comment: 'Nest and HTTP stay in http/, modules and mains (ADR-0006).',
    severity: 'error',
    from: {
      path: [
        '^libs/(?!service/)',
        CORE,
        '^apps/[^/]+/src/(reads|follower|sender|store)/',
        '^deploy/',
        '^test/simulation/',
      ],
    },
    to: { path: '^node_modules/(@nestjs|@fastify|fastify)/' },
  },
  {
    name: 'core-knows-no-edge',
    comment: 'The edge calls the core, never the other way round.',
    severity: 'error',
    from: { path: CORE, pathNot: String.raw`\.spec\.ts$` },
    to: { path: `^apps/$1/src/(${EDGE})` },
  },
  {
    name: 'http-is-called-by-nobody',
    comment: 'HTTP is the way in: reads and whatever follows, sends or stores works without it.',
    severity: 'error',
    from: { path: '^apps/([^/]+)/src/(reads|follower|sender|store)/', pathNot: String.raw`\.spec\.ts$` },
    to: { path: String.raw`^apps/$1/src/(http/|main\.ts$|app\.module\.ts$)` },
  },
  {
    name: 'kafkajs-behind-the-port',
    comment:
      'kafkajs and the registry client are imported by libs/kafka alone (ADR-0003); the benches compare with it raw.',
    severity: 'error',
    from: { pathNot: '^(libs/kafka/src|test/bench/src)/' },
    to: { path: '^node_modules/(kafkajs|@kafkajs/|@platformatic/kafka)' },
  },
  {
    name: 'kafkajs-in-its-adapter',
    comment: 'Within libs/kafka only its own adapters (and specs that look from the side) name kafkajs.',
    severity: 'error',
    from: { path: '^libs/kafka/src/', pathNot: String.raw`^libs/kafka/src/(kafkajs|registry|testing)/|\.spec\.ts$` },
    to: { path: '^node_modules/(kafkajs|@kafkajs/)' },
  },
  {
    name: 'platformatic-in-its-adapter',
    comment: 'Only the adapters that need @platformatic/kafka name it; loading it takes half a second (ADR-0025).',
    severity: 'error',
    from: { path: '^libs/kafka/src/', pathNot: '^libs/kafka/src/platformatic/' },
    to: { path: '^node_modules/@platformatic/' },
  },
  {
    name: 'platformatic-is-loaded-late',
    comment: 'Who does not append to a log or read one does not wait for the client (ADR-0025). A spec may.',
    severity: 'error',
    from: { path: '^libs/kafka/src/', pathNot: String.raw`^libs/kafka/src/platformatic/|\.spec\.ts$` },
    to: { path: '^libs/kafka/src/platformatic/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
  },
  {
    name: 'sql-in-stores',
    comment:
      'pg and TypeORM live in reads/ and store/ (outbound/ in libraries); the development stack creates databases, proofs look at tables.',
    severity: 'error',
    from: {
      pathNot: String.raw`^(apps/[^/]+|libs/service|examples/[^/]+)/src/(outbound|reads|store)/|^deploy/dev/src/|^test/(integration|e2e|crash|bench)/|\.(integration|e2e)\.spec\.ts$`,
    },
    to: { path: '^node_modules/(pg|pg-copy-streams|typeorm|postgres)/' },
  },
  {
    name: 'sdk-stays-light',
    comment: 'Users import the SDK into their processes: no framework, no database, no service.',
    severity: 'error',
    from: { path: '^libs/sdk/' },
    to: { path: FRAMEWORKS },
  },
  {
    name: 'checkpoints-know-no-detector',
    comment:
      'What takes checkpoints, what detects a violation and what spreads a fall (the ledger) know nothing of each other (E1).',
    severity: 'error',
    from: { path: '^libs/sdk/src/checkpoint/' },
    to: { path: '^libs/sdk/src/detector/', reachable: true },
  },
  {
    name: 'detectors-know-no-checkpoint',
    comment: 'The same the other way round.',
    severity: 'error',
    from: { path: '^libs/sdk/src/detector/' },
    to: { path: '^libs/sdk/src/checkpoint/', reachable: true },
  },
  {
    name: 'sdk-reaches-no-framework',
    comment: 'The same through everything it imports.',
    severity: 'error',
    from: { path: '^libs/sdk/src/index\\.ts$' },
    to: { path: FRAMEWORKS, reachable: true },
  },
  {
    name: 'verifier-imports-no-service',
    comment:
      'Who checks the logs shares no code with who writes them: chain, messages and the Kafka port suffice. (`log accept-cut` writes one; `provision --check` looks at a cluster, not at logs.)',
    severity: 'error',
    from: { path: '^apps/(auditor/|cli/src/(?!log/))', pathNot: PROOF },
    to: {
      path: '^libs/(event-log/|service/(?!src/provision/))|^apps/(contract-registry|mutation-ledger|recovery-orchestrator|budget-accountant)/',
    },
  },
  {
    name: 'specs-are-leaves',
    comment: 'Nothing imports a spec.',
    severity: 'error',
    from: {},
    to: { path: String.raw`\.spec\.ts$` },
  },
  {
    name: 'product-needs-no-testing-tools',
    comment: 'Contract suites, fixtures and libs/testing are for proofs.',
    severity: 'error',
    from: { path: '^(libs|apps|examples)/', pathNot: PROOF },
    to: { path: [String.raw`\.(contract|testing)\.ts$`, '^libs/testing/', '^node_modules/(@jest|jest|fast-check)/'] },
  },
  {
    name: 'e2e-imports-no-product',
    comment: 'End-to-end specs see what a user sees: processes, HTTP, topics. They may start the stack.',
    severity: 'error',
    from: { path: String.raw`^test/e2e/|\.e2e\.spec\.ts$` },
    to: { path: '^(libs|apps)/' },
  },
  {
    name: 'examples-are-users',
    comment: 'An example imports what a user can import.',
    severity: 'error',
    from: { path: '^examples/' },
    to: { path: ['^apps/', '^libs/(event-log|service|testing)/', '^deploy/', '^test/', '^node_modules/@nestjs/'] },
  },
  ...libraryRules(),
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: rules,
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: String.raw`(^|/)dist/|/\.venv/|/__pycache__/` },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // Our packages name their sources under `types`, so `@recourse/kernel` is libs/kernel/src/index.ts here as for tsc.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default', 'require'],
      extensions: ['.ts', '.mjs', '.js', '.cjs', '.json', '.d.ts', '.d.mts'],
      mainFields: ['types', 'module', 'main'],
    },
    cache: { folder: '.cache/dependency-cruiser', strategy: 'content' },
  },
};
