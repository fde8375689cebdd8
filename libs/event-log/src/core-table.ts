// A service as one table: what it hears, keeps, folds and refuses, typed by the unions of its topics.
//
//   core('recourse.budgets', { inputs: { 'recourse.budget-commands': { … } }, rows: [budget, reservation], evolve: { … } })
//
// Boundary: makes a ServiceCore of the table and adds no rule. Input lists, commands' keys and roles, row kinds and readers
// follow from it. A record type of a command wire or of the own log that has no line does not compile.
import { recordIn } from '@recourse/messages';
import type { Listed } from './rows-over.js';
import type { BodyOf, CommandEnvelope, RecordOf, RecordTypeOf, TopicName } from '@recourse/messages';
import { NOTHING, refused } from './service-core.js';
import type {
  AcceptedRecord,
  Change,
  ColumnType,
  DecideContext,
  Decision,
  Doc,
  InputSpec,
  KindSpec,
  Outgoing,
  Owns,
  RecordInput,
  ServiceCore,
  StateView,
  TimerInput,
  ViewSpec,
} from './service-core.js';

// Rows --------------------------------------------------------------------------------------------------------------------

/** How documents of one type are kept. */
export interface RowShape<Document extends object> {
  readonly kind: string;
  /** Table in the service's database; snake_case. */
  readonly table: string;
  /** What is loaded together. */
  readonly group: (doc: Document) => string;
  /** Unique within the group. */
  readonly key: (doc: Document) => string;
  /** When its timer fires, epoch milliseconds; null for none. */
  readonly due?: (doc: Document) => number | null;
  /** Members that are columns, with their types. */
  readonly columns: Readonly<Partial<Record<keyof Document & string, ColumnType>>>;
  readonly indexes?: readonly (readonly (keyof Document & string)[])[];
}

/** Reads and writes the rows of one document type. */
export interface RowTable<Document extends object> {
  readonly spec: KindSpec;
  readonly find: (state: StateView, group: string, key?: string) => Document | null;
  /** All rows of a group, ordered by key. */
  readonly list: (state: StateView, group: string) => readonly Document[];
  readonly put: (doc: Document) => Change;
  /** For members that are folded one after the other: lists show what those before changed. */
  readonly listed: Listed;
}

/** A kind of rows. `find` without a key looks for the row whose key is its group. */
export function row<Document extends object>(shape: RowShape<Document>): RowTable<Document> {
  const { kind, table, group, key, due, columns, indexes } = shape;
  return {
    spec: {
      kind,
      table,
      columns: Object.entries<ColumnType | undefined>(columns).map(([name, type = 'text']) => ({
        name,
        type,
        of: ({ doc }) => (doc[name] as string | number | boolean | Buffer | null | undefined) ?? null,
      })),
      ...(indexes === undefined ? {} : { indexes }),
    },
    // Rows of a kind are written by its `put` alone.
    find: (state, of, at = of) => (state.get(kind, of, at) as Document | undefined) ?? null,
    list: (state, of) => state.list(kind, of) as readonly Document[],
    put: (doc) => ({
      op: 'put',
      row: { kind, group: group(doc), key: key(doc), dueAt: due?.(doc) ?? null, doc: doc as Doc },
    }),
    listed: { kind, keyOf: (doc) => key(doc as Document) },
  };
}

// Inputs ------------------------------------------------------------------------------------------------------------------

/** An input and what it is decided on. */
export interface Asked<Body> {
  readonly body: Body;
  readonly input: RecordInput;
  readonly context: DecideContext;
}

type Decider<Body> = (asked: Asked<Body>) => Decision;

/** What the record key of an input has to be, and what it is called. */
interface KeyRule<Body> {
  readonly is: (body: Body) => string;
  readonly name: string;
}

/** What a command line says beside its decider. */
export interface CommandLine<Body> {
  readonly roles: readonly string[] | 'anyone';
  readonly decide: Decider<Body>;
  /** Where its key is another than that of the wire's commands. */
  readonly key?: KeyRule<Body>;
}

/** Who may send a command, what is decided about it, and its key where that is another than its neighbours'. */
export function command<Body>(
  roles: readonly string[] | 'anyone',
  decide: Decider<Body>,
  key?: KeyRule<Body>,
): CommandLine<Body> {
  return { roles, decide, ...(key === undefined ? {} : { key }) };
}

/** Commands the loop answers itself, on every wire. */
type SharedCommand = 'RedriveParked' | 'DiscardParked' | 'RecordReading';
/** Records of every log, which the loop folds itself. */
type SharedRecord =
  | 'Progress'
  | 'ObligationResent'
  | 'CutAccepted'
  | 'WireLossAccepted'
  | 'TimeAccepted'
  | 'RecordRedirected'
  | 'RecordsRefused'
  | 'RecordParked'
  | 'ParkedResolved'
  | 'PayloadsRead'
  | 'CommandAnswered';

/** Every command of a wire has its line. */
export interface CommandsTable<Wire extends TopicName> {
  /** Of commands whose line names no key of its own; null: the wire has one partition, and any key will do. */
  readonly key: KeyRule<{ readonly envelope: CommandEnvelope } & Doc> | null;
  readonly commands: {
    readonly [Type in Exclude<RecordTypeOf<Wire>, SharedCommand>]: CommandLine<BodyOf<Wire, Type>>;
  };
}

/** Records of a wire that is told by outsiders. Every type has its line. */
export interface ToldTable<Wire extends TopicName> {
  /** A record under another key is parked; null: the deciders say what becomes of it. */
  readonly key: KeyRule<RecordOf<Wire>['body']> | null;
  /** False for a record that is another service's to answer. */
  readonly concerns?: (record: RecordOf<Wire>) => boolean;
  readonly records: { readonly [Type in RecordTypeOf<Wire>]: Decider<BodyOf<Wire, Type>> };
  readonly goesFirst?: true;
}

/** Records of somebody's log that are heard; others only move the cursor. */
export interface HeardTable<Log extends TopicName> extends Pick<InputSpec, 'mode' | 'patienceMs'> {
  /** False for a record that leads to nothing whatever the state: it only moves the cursor. */
  readonly concerns?: (record: RecordOf<Log>, owns: Owns) => boolean;
  readonly records: { readonly [Type in RecordTypeOf<Log>]?: Decider<BodyOf<Log, Type>> };
}

/** A table of inputs; what is typed by its topic is checked where it is written. */
export interface InputTable extends InputSpec {
  readonly decide: (input: RecordInput, context: DecideContext) => Decision;
}

/** Commands of a wire: signed by an edge, answered once each. Refused: KEY_MISMATCH, ROLE_REQUIRED. */
export function commandsOf<Wire extends TopicName>(topic: Wire, { key, commands }: CommandsTable<Wire>): InputTable {
  const lines = commands as Readonly<Record<string, CommandLine<never>>>; // every type of the wire, as the parameter's type says
  return {
    topic,
    source: 'wire',
    mode: 'aligned',
    types: Object.keys(lines),
    decide: (input, context) => {
      const { body } = recordIn(topic, input);
      const asking = body as { readonly envelope: CommandEnvelope } & Doc; // every command has an envelope
      const line = lines[input.type];
      if (line === undefined) return NOTHING;
      const rule = (line.key as KeyRule<typeof asking> | undefined) ?? key; // of the type whose line this is
      if (rule !== null && input.key !== rule.is(asking))
        return refused(422, 'KEY_MISMATCH', `The record key of this command must be its ${rule.name}.`);
      if (line.roles !== 'anyone' && !line.roles.some((role) => asking.envelope.roles.includes(role)))
        return refused(403, 'ROLE_REQUIRED', `${input.type} needs one of the roles ${line.roles.join(', ')}.`);
      return line.decide({ body: body as never, input, context }); // of the type whose line this is
    },
  };
}

/** A command wire of which a log answers nothing but what is said about its parked records, which the loop does. */
export function parkedThrough(topic: TopicName): InputTable {
  return { topic, source: 'wire', mode: 'aligned', types: [], decide: () => NOTHING };
}

/** Records of a wire, decided type by type. Parked: KEY_MISMATCH. */
export function toldOn<Wire extends TopicName>(topic: Wire, table: ToldTable<Wire>): InputTable {
  const { key, concerns, records, goesFirst } = table;
  const deciders = records as Readonly<Record<string, Decider<never>>>; // every type of the wire, as the parameter's type says
  return {
    topic,
    source: 'wire',
    mode: 'aligned',
    types: Object.keys(deciders),
    ...(concerns === undefined ? {} : { concerns: (input) => concerns(recordIn(topic, input)) }),
    ...(goesFirst === undefined ? {} : { goesFirst }),
    decide: (input, context) => {
      const { body } = recordIn(topic, input);
      if (key !== null && input.key !== key.is(body))
        return { records: [], park: { reason: 'KEY_MISMATCH', detail: `the record key must be the ${key.name}` } };
      return deciders[input.type]?.({ body: body as never, input, context }) ?? NOTHING; // of the type whose line this is
    },
  };
}

/** Records of a log, decided type by type. */
export function heardOf<Log extends TopicName>(topic: Log, table: HeardTable<Log>): InputTable {
  const { concerns, records, ...how } = table;
  const deciders = records as Readonly<Record<string, Decider<never> | undefined>>; // types of the log, as the parameter's type says
  return {
    topic,
    source: 'log',
    ...how,
    types: Object.keys(deciders),
    ...(concerns === undefined ? {} : { concerns: (input, owns) => concerns(recordIn(topic, input), owns) }),
    decide: (input, context) => {
      const record = recordIn(topic, input);
      if (concerns !== undefined && !concerns(record, context.owns)) return NOTHING;
      return deciders[input.type]?.({ body: record.body as never, input, context }) ?? NOTHING; // of the type whose line this is
    },
  };
}

// The table ---------------------------------------------------------------------------------------------------------------

/** Records of a log that the service decides, beside those of the loop. */
type OwnRecord<Log extends TopicName> = Exclude<RecordOf<Log>, { readonly type: SharedRecord }>;

/** What a record of one type makes of rows. */
export type Fold<Log extends TopicName, Type extends RecordTypeOf<Log>> = (
  body: BodyOf<Log, Type>,
  state: StateView,
  record: AcceptedRecord,
) => readonly Change[];

/** Every record of a log has its fold. */
export type Folds<Log extends TopicName> = {
  readonly [Type in Exclude<RecordTypeOf<Log>, SharedRecord>]: Fold<Log, Type>;
};

/** A record that changes no row. */
export const unchanged = (): readonly Change[] => [];

/** Several things follow from one record, each from the rows as they were before it. */
export function together<Body>(
  ...folds: readonly ((body: Body, state: StateView, record: AcceptedRecord) => readonly Change[])[]
): (body: Body, state: StateView, record: AcceptedRecord) => readonly Change[] {
  return (body, state, record) => folds.flatMap((fold) => fold(body, state, record));
}

/** What happens when the time of a row has come, by the kind of the row. */
export type Due = Readonly<Record<string, (context: DecideContext, timer: TimerInput) => Decision>>;

/** What most cores do without. */
type More = Partial<Pick<ServiceCore, 'edition' | 'sealScope' | 'owed' | 'derived'>>;

export interface CoreTable<Log extends TopicName> extends More {
  readonly inputs: readonly InputTable[];
  readonly views: readonly ViewSpec[];
  readonly rows: readonly { readonly spec: KindSpec }[];
  /** Record key of what is decided: the aggregate it is about. */
  readonly keyOf: (body: OwnRecord<Log>['body']) => string;
  readonly evolve: Folds<Log>;
  readonly due: Due;
  /** Messages that records send; `owed` says which of them are sent again after a take-over. */
  readonly sends?: { readonly [Type in RecordTypeOf<Log>]?: (body: BodyOf<Log, Type>) => readonly Outgoing[] };
}

/** Functions by record type, once the types of their bodies are no longer told apart. */
type ByName<Given extends readonly unknown[], Result> = Readonly<
  Record<string, ((body: never, ...given: Given) => readonly Result[]) | undefined>
>;

/** Makes the core of a log out of its table. */
export function core<Log extends TopicName>(log: Log, table: CoreTable<Log>): ServiceCore {
  const { rows, keyOf, evolve, due, sends = {}, owed = () => false, ...more } = table;
  const byTopic = new Map(table.inputs.map((input) => [input.topic, input]));
  const folds = evolve as ByName<[state: StateView, record: AcceptedRecord], Change>; // every type of the log, as the parameter's type says
  const sending = sends as ByName<[], Outgoing>; // likewise
  return {
    ...more,
    log,
    kinds: rows.map(({ spec }) => spec),
    keyOf: (decided) => keyOf(recordIn(log, decided).body as OwnRecord<Log>['body']), // the loop keys its own
    decide: (context, input) => {
      if (input.source === 'timer') return due[input.address.kind]?.(context, input) ?? NOTHING;
      const heard = byTopic.get(input.topic);
      return heard?.types.includes(input.type) === true ? heard.decide(input, context) : NOTHING;
    },
    evolve: (state, record) => folds[record.type]?.(recordIn(log, record).body as never, state, record) ?? [],
    react: (record) => sending[record.type]?.(recordIn(log, record).body as never) ?? [],
    owed,
  };
}
