// P2: what reached a wire is in its log exactly once: recorded, conflicting, answered or parked. What one log says reaches the next.
import { mutationId } from '@recourse/sdk';
import { broken, groupBy, nested, number, ofType, subjectOf, text, wireOf } from './history.js';
import type { Fields, History, LogRecord, WireRecord } from './history.js';

const COMMANDS: Readonly<Record<string, string>> = {
  'recourse.registry-commands': 'recourse.contracts',
  'recourse.ledger-commands': 'recourse.mutations',
  'recourse.recovery-commands': 'recourse.recoveries',
  'recourse.budget-commands': 'recourse.budgets',
};
const LOGS = [
  'recourse.contracts',
  'recourse.assumptions',
  'recourse.mutations',
  'recourse.recoveries',
  'recourse.budgets',
] as const;

export function checkNothingLost(history: History): void {
  for (const halted of history.world.halted) broken(history, 'P2', 'goes on', halted);
  const parked = new Set(LOGS.flatMap((log) => ofType(history, log, 'RecordParked').map(({ body }) => placeOf(body))));
  for (const place of redirectedIn(history)) parked.add(place);
  const isParked = (record: Placed): boolean =>
    parked.has(`${record.topic}/${String(record.partition)}/${String(record.offset)}`);
  checkExecutions(history, isParked);
  checkCommits(history, isParked);
  checkStatements(history, isParked);
  checkCommands(history, isParked);
  checkReports(history, isParked);
  checkHops(history, isParked);
  checkOwed(history);
}

/** Places of records that were sent to the partition of their key and came there: the copy is looked at like any other record. */
function redirectedIn(history: History): readonly string[] {
  const redirected = LOGS.flatMap((log) => ofType(history, log, 'RecordRedirected'));
  return redirected.flatMap(({ body }) => {
    const wires = history.wires[text(body, 'topic')] ?? [];
    const own = wires.find((wire) => placeOf({ ...wire }) === placeOf(body));
    const isCopied = wires.some(
      (wire) =>
        wire.partition === number(body, 'to_partition') &&
        wire.order > (own?.order ?? Infinity) &&
        wire.key === own?.key &&
        wire.type === own.type &&
        JSON.stringify(wire.body) === JSON.stringify(own.body),
    );
    return isCopied ? [placeOf(body)] : [];
  });
}

interface Placed {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

function placeOf(body: Fields): string {
  return `${text(body, 'topic')}/${text(body, 'partition')}/${text(body, 'offset')}`;
}

function checkExecutions(history: History, isParked: (wire: WireRecord) => boolean): void {
  const mutations = history.logs['recourse.mutations'] ?? [];
  const recorded = new Set(
    mutations.flatMap(({ type, body }) =>
      ['MutationRecorded', 'MutationPlanned', 'ExecutionConflicted'].includes(type) ? [text(body, 'event_id')] : [],
    ),
  );
  const told = new Set(
    ofType(history, 'recourse.mutations', 'WorkerAnswered')
      .filter(({ body }) => body['verdict'] === 'met' || body['verdict'] === 'not_met')
      .map(({ body }) => `${text(body, 'mutation_id')} ${body['verdict'] === 'met' ? 'succeeded' : 'failed'}`),
  );
  const executed = new Set(
    ofType(history, 'recourse.mutations', 'MutationRecorded').map(({ body }) => effectOf(nested(body, 'execution'))),
  );
  for (const wire of history.wires['recourse.tool-executions'] ?? []) {
    if (wire.type === 'CheckpointTaken' || wire.type === 'StateChunk') continue;
    if (isParked(wire) || recorded.has(text(wire.body, 'event_id'))) continue;
    // An intent that comes after its execution tells nothing new.
    if (wire.type === 'ToolPlanned' && executed.has(effectOf(wire.body))) continue;
    // What a worker found out before its producer said the same is no news either.
    if (
      told.has(
        `${mutationId(text(wire.body, 'tenant'), text(wire.body, 'run_id'), text(wire.body, 'effect_key'))} ${String(wire.body['outcome'])}`,
      )
    )
      continue;
    broken(
      history,
      'P2',
      'recorded',
      `${String(wire.type)} ${text(wire.body, 'event_id')} at ${wire.topic}/${String(wire.partition)}@${String(wire.offset)} is nowhere in the log`,
    );
  }
  once(
    history,
    ofType(history, 'recourse.mutations', 'MutationRecorded'),
    ({ body }) => `${text(body, 'mutation_id')} ${text(body, 'event_id')}`,
    'execution',
  );
  once(
    history,
    ofType(history, 'recourse.mutations', 'MutationRecorded').filter(
      ({ body }) => body['execution_state'] === 'succeeded',
    ),
    ({ body }) => text(body, 'mutation_id'),
    'success',
  );
  once(
    history,
    ofType(history, 'recourse.mutations', 'MutationPlanned'),
    ({ body }) => text(body, 'mutation_id'),
    'intent',
  );
}

/** A commit and each chunk of its state is on record once; a state that was given up takes no more chunks. */
function checkCommits(history: History, isParked: (wire: WireRecord) => boolean): void {
  const commits = ofType(history, 'recourse.mutations', 'CheckpointRecorded');
  const chunks = ofType(history, 'recourse.mutations', 'StateChunkRecorded');
  const chunkOf = ({ body }: { readonly body: Fields }): string => `${text(body, 'commit_id')}/${text(body, 'index')}`;
  const recorded = new Set(commits.map(({ body }) => text(body, 'commit_id')));
  const known = new Set(chunks.map(chunkOf));
  const givenUp = new Set(
    ofType(history, 'recourse.mutations', 'CheckpointHardened').map(({ body }) => text(body, 'commit_id')),
  );
  for (const wire of wireOf(history, 'recourse.tool-executions', 'CheckpointTaken'))
    if (!isParked(wire) && !recorded.has(text(wire.body, 'commit_id')))
      broken(history, 'P2', 'recorded', `the commit ${text(wire.body, 'commit_id')} is nowhere in the log`);
  for (const wire of wireOf(history, 'recourse.tool-executions', 'StateChunk')) {
    if (!isParked(wire) && !known.has(chunkOf(wire)) && !givenUp.has(text(wire.body, 'commit_id')))
      broken(history, 'P2', 'recorded', `the chunk ${chunkOf(wire)} is nowhere in the log`);
  }
  once(history, commits, ({ body }) => text(body, 'commit_id'), 'commit');
  once(history, chunks, chunkOf, 'chunk');
  once(
    history,
    ofType(history, 'recourse.mutations', 'CheckpointHardened'),
    ({ body }) => text(body, 'commit_id'),
    'giving up',
  );
}

function effectOf(fields: Fields): string {
  return `${text(fields, 'tenant')} ${text(fields, 'run_id')} ${text(fields, 'effect_key')}`;
}

function checkStatements(history: History, isParked: (wire: WireRecord) => boolean): void {
  const idOf = ({ body }: { readonly body: Fields }): string =>
    `${text(body, 'tenant')} ${text(body, 'ref')} ${text(body, 'event_id')}`;
  const stated = ofType(history, 'recourse.assumptions', 'AssumptionStated');
  const known = new Set([...stated, ...ofType(history, 'recourse.assumptions', 'StatementConflicted')].map(idOf));
  const handleOf = ({ body }: { readonly body: Fields }): string => `${text(body, 'mutation_id')} ${text(body, 'ref')}`;
  const claimed = new Set(ofType(history, 'recourse.assumptions', 'HandleClaimed').map(handleOf));
  for (const wire of history.wires['recourse.assumption-events'] ?? []) {
    // Whose a handle is, the ledger asks where reports are somebody's word.
    const isKnown = wire.type === 'HandleNamed' ? claimed.has(handleOf(wire)) : known.has(idOf(wire));
    if (!isParked(wire) && !isKnown)
      broken(history, 'P2', 'recorded', `${String(wire.type)} ${idOf(wire)} is nowhere in the log`);
  }
  const wordOf = (one: (typeof stated)[number]): string =>
    `${idOf(one)} ${text(one.body, 'source')} ${text(one.body, 'run_id')}`;
  once(history, stated, wordOf, 'statement');
}

function checkCommands(history: History, isParked: (wire: WireRecord) => boolean): void {
  for (const log of LOGS) {
    const answers = groupBy(ofType(history, log, 'CommandAnswered'), ({ body }) => text(body, 'command_id'));
    for (const [id, found] of answers)
      if (found.length > 1)
        broken(history, 'P2', 'answered once', `command ${id} has ${String(found.length)} answers in ${log}`);
    for (const wire of Object.keys(COMMANDS).flatMap((topic) => history.wires[topic] ?? [])) {
      // A command about what is parked names its log; others have one.
      if ((wire.body['log'] ?? COMMANDS[wire.topic]) !== log) continue;
      const id = text(nested(wire.body, 'envelope'), 'command_id');
      if (!isParked(wire) && !answers.has(id))
        broken(history, 'P2', 'answered', `command ${id} (${String(wire.type)}) has no answer in ${log}`);
    }
  }
}

function checkReports(history: History, isParked: (wire: WireRecord) => boolean): void {
  const answers = [
    ...ofType(history, 'recourse.recoveries', 'LegSettled', 'LookAnswered', 'FactsObserved', 'ReportRefused'),
    ...ofType(history, 'recourse.mutations', 'WorkerAnswered', 'AnswerRefused'),
  ];
  // A late answer that tells more than the request was closed with is an execution: `<request>.<verdict>`.
  const told = ofType(history, 'recourse.mutations', 'MutationRecorded', 'ExecutionConflicted');
  const known = new Set([
    ...answers.map(({ body }) => text(body, 'leg_id')),
    ...told.map(({ body }) => text(body, 'event_id').replace(/\.(?:met|not_met|unknown)$/, '')),
  ]);
  for (const wire of wireOf(history, 'recourse.tool-results', 'LegReported')) {
    // A report of a leg under way may be lost: the complete one says the same and more.
    if (wire.body['complete'] === true && !isParked(wire) && !known.has(text(wire.body, 'leg_id')))
      broken(history, 'P2', 'recorded', `the report on ${text(wire.body, 'leg_id')} is nowhere in the log`);
  }
}

/** What one log says, the next has taken up. */
function checkHops(history: History, isParked: (record: Placed) => boolean): void {
  const mutations = 'recourse.mutations';
  const recoveries = 'recourse.recoveries';
  const mutationsOf = (records: readonly LogRecord[]): ReadonlySet<string> =>
    new Set(records.map(({ body }) => subjectOf(body)));
  const follows = following(history, isParked);
  follows(
    ofType(history, mutations, 'MutationsFell'),
    mutationsOf(ofType(history, recoveries, 'RecoveryPlanned')),
    'a marked commit has a step',
  );
  follows(
    ofType(history, mutations, 'CommitBeyondBound'),
    mutationsOf(
      ofType(history, mutations, 'RollbackOutOfBand', 'MutationsFell', 'CheckpointRolledBack', 'TriggerUnmatched'),
    ),
    'a commit beyond the bound is in a list',
  );
  const compensated = ofType(history, recoveries, 'LegSettled').filter(({ body }) => body['outcome'] === 'compensated');
  const verified = ofType(history, mutations, 'RecoverabilityChanged').filter(
    ({ body }) => body['event'] === 'compensation_verified',
  );
  follows(compensated, mutationsOf(verified), 'a compensation is known to the ledger');
  const executed = ofType(history, mutations, 'CompensationsExecuted').filter(
    ({ body }) => body['execution_state'] === 'succeeded',
  );
  const reversed = ({ body }: LogRecord): string => text(body, 'reverses_mutation_id');
  follows(compensated, new Set(executed.map(reversed)), 'a compensation is an execution of its own (A62)');
  once(history, executed, reversed, 'compensation');
  once(
    history,
    ofType(history, mutations, 'TriggerUnmatched'),
    ({ body }) => `${text(body, 'tenant')} ${text(body, 'rollback_id')}`,
    'remembered trigger',
  );
  once(history, ofType(history, mutations, 'MutationsFell'), ({ body }) => text(body, 'mutation_id'), 'mark');
  once(history, ofType(history, mutations, 'CheckpointRolledBack'), ({ body }) => text(body, 'commit_id'), 'mark');
  once(history, ofType(history, recoveries, 'RecoveryPlanned'), ({ body }) => text(body, 'step_id'), 'step');
}

/** What the next log makes of a record; one that is parked there waits for a person, and stands in a list. */
function following(
  history: History,
  isParked: (record: Placed) => boolean,
): (records: readonly LogRecord[], known: ReadonlySet<string>, rule: string) => void {
  return (records, known, rule) => {
    for (const record of records) {
      const id = subjectOf(record.body);
      if (!known.has(id) && !isParked(record))
        broken(history, 'P2', rule, `${record.type} of ${id} was never taken up`);
    }
  };
}

/** A lease this long leaves time for every disturbance there is: its request was sent. Milliseconds. */
const SENT_WITHIN_MS = 25_000;

/** What is owed to a worker was sent, unless there was hardly time (L9). */
function checkOwed(history: History): void {
  const sent = new Set(
    wireOf(history, 'recourse.tool-requests.payments', 'LegRequested').map(
      ({ body }) => `${text(body, 'leg_id')} ${text(body, 'attempt')}`,
    ),
  );
  for (const { body, decidedAt } of ofType(history, 'recourse.recoveries', 'LegDispatched')) {
    if (
      number(body, 'not_after') - decidedAt < SENT_WITHIN_MS ||
      sent.has(`${text(body, 'leg_id')} ${text(body, 'attempt')}`)
    )
      continue;
    broken(history, 'P2', 'sent', `${text(body, 'leg_id')} was dispatched and never asked of a worker`);
  }
  const asks = ofType(history, 'recourse.mutations', 'WorkerAsked');
  const answered = new Set(
    ofType(history, 'recourse.mutations', 'WorkerAnswered', 'MutationRecorded').map(({ body }) =>
      text(body, 'mutation_id'),
    ),
  );
  for (const { body } of asks)
    if (!answered.has(text(body, 'mutation_id')))
      broken(
        history,
        'P2',
        'answered',
        `${text(nested(body, 'request'), 'leg_id')} was asked of a worker, and nothing says what came of it`,
      );
}

function once(history: History, records: readonly LogRecord[], key: (record: LogRecord) => string, what: string): void {
  for (const [id, found] of groupBy(records, key))
    if (found.length > 1)
      broken(history, 'P2', 'exactly once', `${what} ${id} was recorded ${String(found.length)} times`);
}
