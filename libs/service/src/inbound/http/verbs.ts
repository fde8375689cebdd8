// Controllers made of the verbs that schemas tell of (libs/messages): route, checked body and record follow from the fields.
//
// Boundary: sends what was asked for as it was asked. Who may ask, and what comes of it, the core says.
import { Controller, Delete, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { plainPayload } from '@recourse/contract';
import type { Doc } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import { shortName, VERBS } from '@recourse/messages';
import type { TopicName, Verb, VerbField } from '@recourse/messages';
import { z } from 'zod';
import { EdgeRefusal } from '../../edge/problem.js';
import {
  anyJson,
  hashHex,
  idText,
  instant,
  reasonText,
  runningText,
  runText,
  tenantText,
  wholeFrom,
  wholeNumber,
} from '../../edge/validate.js';
import { FromCaller } from './caller.js';
import type { Caller } from './caller.js';
import { Commands } from './commands.js';
import { oneQuery, Reads } from './reads.js';
import { addRoute, CommandRoute, Given, Id, Queried } from './routes.js';

/** Rows among which a thing is found, and the column of its id where that has another name than the field. */
interface Place {
  readonly log: string;
  readonly kind: string;
  readonly column?: string;
}

export interface VerbsOptions {
  /** Groups the routes in OpenAPI. */
  readonly tag: string;
  readonly wire: TopicName;
  /** Where its routes begin; all of the wire without it. */
  readonly below?: string;
  /** Where the thing is found that `:id` names, by the field that `:id` is: its row gives the tenant, and what the verb wants found. */
  readonly about?: Readonly<Record<string, Place>>;
  /** Field that is the record key; without one, the tenant is. */
  readonly key?: string;
  /** Parts of the row that a verb stands on, by its record type: where one was erased, nobody can judge them any more. */
  readonly standsOn?: Readonly<Record<string, (row: Doc) => unknown>>;
  /** Checks of fields for which their type says too little. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
}

interface Edge {
  readonly commands: Commands;
  readonly reads: Reads;
}

type Asked = Readonly<Record<string, unknown>>;

/** A controller of the verbs of a command wire. Errors of its routes: those of Commands and Reads. */
export function verbsController(options: VerbsOptions): Type {
  @ApiTags(options.tag)
  @ApiBearerAuth()
  @Controller()
  class VerbsController implements Edge {
    constructor(
      @Inject(Commands) readonly commands: Commands,
      @Inject(Reads) readonly reads: Reads,
    ) {}
  }
  const { wire, below = '' } = options;
  for (const verb of VERBS)
    if (verb.topic === wire && verb.route.split(' ')[1]?.startsWith(below) === true)
      addVerb(VerbsController, verb, options);
  return VerbsController;
}

function addVerb(controller: Type<Edge>, verb: Verb, options: VerbsOptions): void {
  const { summary, status: httpStatus = 200, type, sets = {}, route } = verb;
  const [method, path = ''] = route.split(' ');
  const isDeletion = method === 'DELETE';
  const body = bodyOf(verb, options);
  addRoute(controller, [shortName(type), ...Object.values(sets), ...(isDeletion ? ['delete'] : [])].join('_'), {
    decorators: [
      CommandRoute(
        path,
        isDeletion ? { summary, httpStatus, query: oneQuery, verb: Delete } : { summary, httpStatus, body },
      ),
    ],
    // A deletion has no body.
    parameters: [
      FromCaller(),
      isDeletion ? Queried(oneQuery) : Given(body),
      ...(path.includes(':id') ? [Id('id')] : []),
    ],
    handle: (edge, caller: Caller, asked: Asked, id: string | null = null) =>
      send(edge, caller, { verb, options, id, asked }),
  });
}

interface Request {
  readonly verb: Verb;
  readonly options: VerbsOptions;
  readonly id: string | null;
  readonly asked: Asked;
}

async function send({ commands, reads }: Edge, caller: Caller, { verb, options, id, asked }: Request): Promise<void> {
  const { about = {}, key } = options;
  const { tenant: _named, ...given } = asked;
  const column = verb.id ?? verb.of;
  const place = column === undefined ? undefined : about[column];
  const thing = id === null ? {} : { [column ?? 'id']: id };
  const row = place === undefined ? null : await rowOf(reads, caller, { place, thing, tenant: tenantIn(asked) });
  if (row !== null) await refuseErased(reads, row, options.standsOn?.[shortName(verb.type)]);
  const found = Object.fromEntries((verb.found ?? []).map((field) => [field, row?.[field]]));
  const record: Doc = { ...found, ...verb.sets, ...(verb.id === undefined ? {} : thing), ...toldBy(verb, given) };
  await commands.submit(caller, {
    type: verb.type,
    key: key === undefined ? (tenant) => tenant : String(record[key]),
    tenant: row === null ? tenantIn(asked) : String(row['tenant']),
    body: { ...thing, ...given },
    build: (envelope) => ({ envelope, ...record }),
  });
}

/** The row of the thing that is named. Errors: those of `Reads.find`. */
async function rowOf(
  reads: Reads,
  caller: Caller,
  asked: {
    readonly place: Place;
    readonly thing: Readonly<Record<string, string>>;
    readonly tenant: string | undefined;
  },
): Promise<Doc> {
  const { log, kind, column } = asked.place;
  const where = Object.fromEntries(Object.entries(asked.thing).map(([name, id]) => [column ?? name, id]));
  return (await reads.find(caller, { log, kind, where, tenant: asked.tenant })).doc;
}

/** Errors: EdgeRefusal(PAYLOADS_ERASED); Failure(KEY_STORE_UNAVAILABLE). */
async function refuseErased(reads: Reads, row: Doc, partOf: ((row: Doc) => unknown) | undefined): Promise<void> {
  if (partOf === undefined) return;
  const [isErased] = await reads.whichErased([partOf(row)]);
  if (isErased === true)
    throw new EdgeRefusal(
      'PAYLOADS_ERASED',
      'what this is about was erased with the data of its subject: deny it, or close it by hand',
    );
}

/** The tenant that is named, as tenantText checked it. */
function tenantIn({ tenant }: Asked): string | undefined {
  return tenant as string | undefined;
}

/** What a verb asks for, as it stands in the body of a request; a thing of a tenant tells whose it is, unless several have one of its id. */
function bodyOf({ fields }: Verb, { fields: own = {} }: VerbsOptions): z.ZodType<Asked> {
  const members = fields.map((field) => [field.name, own[field.name] ?? checkOf(field, own)] as const);
  return z.strictObject({ ...Object.fromEntries(members), tenant: tenantText.optional() });
}

function checkOf(field: VerbField, own: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const check = CHECKS[field.kind](field, own);
  if (field.nullable) return check.nullable().default(null);
  return field.default === undefined ? check : check.default(field.default);
}

const CHECKS: Readonly<
  Record<VerbField['kind'], (field: VerbField, own: Readonly<Record<string, z.ZodType>>) => z.ZodType>
> = {
  text: ({ name, max }) =>
    name === 'reason' ? reasonText : max !== undefined ? runningText(max) : NAME_RUNS.includes(name) ? runText : idText,
  flag: () => z.boolean(),
  number: ({ min = 0 }) => wholeFrom(min),
  instant: () => instant,
  enum: ({ values = [] }) => z.enum(values),
  json: () => anyJson,
  money: (_field, { currency = idText }) => z.strictObject({ amount_minor: wholeNumber, currency }),
  moneys: (_field, { currency = idText }) =>
    z.array(z.strictObject({ amount_minor: wholeNumber, currency })).max(MONEYS_MAX),
  hash: () => hashHex,
};
/** Fields that name a run, or may. */
const NAME_RUNS: readonly string[] = ['run_id', 'scope_id'];
/** Amounts of one command: every unit at most once, and there are few. */
const MONEYS_MAX = 16;

/** The fields as the record holds them. */
function toldBy({ fields }: Verb, given: Asked): Doc {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, given[field.name])]));
}

/** A deletion says nothing. */
function valueOf({ kind, nullable }: VerbField, value: unknown = null): unknown {
  if (value === null && nullable) return null;
  if (kind === 'json') return plainPayload(value as Json); // as anyJson took it
  return kind === 'hash' && typeof value === 'string' ? Buffer.from(value, 'hex') : value;
}
