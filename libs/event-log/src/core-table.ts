// A service as one table: what it hears, keeps, folds and refuses, typed by the unions of its topics.
//
//   core('recourse.budgets', { inputs: { 'recourse.budget-commands': { … } }, rows: [budget, reservation], evolve: { … } })
//
// Boundary: makes a ServiceCore of the table and adds no rule. Input lists, commands' keys and roles, row kinds and readers
// follow from it. A record type of a command wire or of the own log that has no line does not compile.
import { recordIn } from '@recourse/messages';
import type { BodyOf, CommandEnvelope, RecordOf, RecordTypeOf, TopicName } from '@recourse/messages';
import { append, refused } from './service-core.js';
import type {
  AcceptedRecord,
  Change,
  ColumnType,
  DecideContext,
  Decided,
  Decision,
  Doc,
  KindSpec,
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

/** What a command line says beside its decider. */
export interface CommandLine<Body> {
  readonly roles: readonly string[] | 'anyone';
  readonly decide: Decider<Body>;
}

/** Who may send a command, and what is decided about it. */
export function command<Body>(roles: readonly string[] | 'anyone', decide: Decider<Body>): CommandLine<Body> {
  return { roles, decide };
}

/** Commands the loop answers itself, on every wire. */
type SharedCommand = 'RedriveParked' | 'DiscardParked';
/** Records of every log, which the loop folds itself. */
type SharedRecord =
  | 'Progress'
  | 'ObligationResent'
  | 'CutAccepted'
  | 'WireLossAccepted'
  | 'RecordRedirected'
  | 'RecordParked'
  | 'ParkedResolved'
  | 'CommandAnswered';

/** Every command of a wire has its line. */
export interface CommandsTable<Wire extends TopicName> {
  /** What the record key of a command has to be, and what it is called; null: the wire has one partition, and any key will do. */
  readonly key: { readonly is: (envelope: CommandEnvelope) => string; readonly name: string } | null;
  readonly commands: {
    readonly [Type in Exclude<RecordTypeOf<Wire>, SharedCommand>]: CommandLine<BodyOf<Wire, Type>>;
  };
}

/** Records of somebody's log that are heard; others only move the cursor. */
export interface HeardTable<Log extends TopicName> {
  readonly mode: 'aligned' | 'broadcast';
  /** False for a record that leads to nothing whatever the state: it only moves the cursor. */
  readonly concerns?: (record: RecordOf<Log>, owns: Owns) => boolean;
  readonly records: { readonly [Type in RecordTypeOf<Log>]?: Decider<BodyOf<Log, Type>> };
}

/** A table of commands or of heard records; what is typed by its topic is checked where it is written. */
interface InputTable {
  readonly topic: TopicName;
  readonly source: 'wire' | 'log';
  readonly mode: 'aligned' | 'broadcast';
  readonly types: readonly string[];
  readonly concerns?: (input: RecordInput, owns: Owns) => boolean;
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
      const { envelope } = body as { readonly envelope: CommandEnvelope }; // every command has one
      const line = lines[input.type];
      if (line === undefined) return { records: [] };
      if (key !== null && input.key !== key.is(envelope))
        return refused(422, 'KEY_MISMATCH', `The record key of this command must be its ${key.name}.`);
      if (line.roles !== 'anyone' && !line.roles.some((role) => envelope.roles.includes(role)))
        return refused(403, 'ROLE_REQUIRED', `${input.type} needs one of the roles ${line.roles.join(', ')}.`);
      return line.decide({ body: body as never, input, context }); // of the type whose line this is
    },
  };
}

/** Records of a log, decided type by type. */
export function heardOf<Log extends TopicName>(topic: Log, { mode, concerns, records }: HeardTable<Log>): InputTable {
  const deciders = records as Readonly<Record<string, Decider<never> | undefined>>; // types of the log, as the parameter's type says
  return {
    topic,
    source: 'log',
    mode,
    types: Object.keys(deciders),
    ...(concerns === undefined ? {} : { concerns: (input, owns) => concerns(recordIn(topic, input), owns) }),
    decide: (input, context) => {
      const record = recordIn(topic, input);
      if (concerns !== undefined && !concerns(record, context.owns)) return { records: [] };
      return deciders[input.type]?.({ body: record.body as never, input, context }) ?? { records: [] }; // of the type whose line this is
    },
  };
}

// The table ---------------------------------------------------------------------------------------------------------------

/** Records of a log that the service decides, beside those of the loop. */
type OwnRecord<Log extends TopicName> = Exclude<RecordOf<Log>, { readonly type: SharedRecord }>;

export interface CoreTable<Log extends TopicName> {
  readonly inputs: readonly InputTable[];
  readonly views: readonly ViewSpec[];
  readonly rows: readonly { readonly spec: KindSpec }[];
  /** Record key of what is decided: the aggregate it is about. */
  readonly keyOf: (body: OwnRecord<Log>['body']) => string;
  /** Every record of the log has its fold. */
  readonly evolve: {
    readonly [Type in Exclude<RecordTypeOf<Log>, SharedRecord>]: (
      state: StateView,
      body: BodyOf<Log, Type>,
      record: AcceptedRecord,
    ) => readonly Change[];
  };
  /** What happens when the time of a row has come, by the kind of the row. */
  readonly due: Readonly<Record<string, (context: DecideContext, timer: TimerInput) => readonly Decided[]>>;
}

/** Makes the core of a log out of its table. */
export function core<Log extends TopicName>(log: Log, table: CoreTable<Log>): ServiceCore {
  const byTopic = new Map(table.inputs.map((input) => [input.topic as string, input]));
  const folds = table.evolve as Readonly<
    Record<string, ((state: StateView, body: never, record: AcceptedRecord) => readonly Change[]) | undefined>
  >; // every type of the log, as the parameter's type says
  return {
    log,
    inputs: table.inputs.map(({ topic, source, mode, types, concerns }) => ({
      topic,
      source,
      mode,
      types,
      ...(concerns === undefined ? {} : { concerns }),
    })),
    views: table.views,
    kinds: table.rows.map(({ spec }) => spec),
    keyOf: (decided) => table.keyOf(recordIn(log, decided).body as OwnRecord<Log>['body']), // the loop keys its own
    decide: (context, input) =>
      input.source === 'timer'
        ? append(...(table.due[input.address.kind]?.(context, input) ?? []))
        : (byTopic.get(input.topic)?.decide(input, context) ?? { records: [] }),
    evolve: (state, record) => folds[record.type]?.(state, recordIn(log, record).body as never, record) ?? [],
    react: () => [],
    owed: () => false,
  };
}
