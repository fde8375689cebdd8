// One environment variable: what it must be, said once for reading, for problems and for docs/reference/config.md.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { exposureOf, Failure } from '@recourse/kernel';
import { z } from 'zod';
import { hasCredentials, HTTP, SAID_BY_US } from './addresses.js';

/** How a variable is read. */
export interface Variable<T> {
  /** Name in the environment; ours begin with RECOURSE_. */
  readonly name: string;
  /** One sentence: what it decides. */
  readonly doc: string;
  /** What a value must be, in words: range and form. */
  readonly range: string;
  /** Unit of the value, or null. */
  readonly unit: string | null;
  /** Text that stands in where the variable is not set; null where it is required, or optional. */
  readonly fallback: string | null;
  readonly isOptional: boolean;
  /** True when the value is a path whose content is secret. */
  readonly isSecretFile: boolean;
  /** True when the value itself is secret: no problem shows it. */
  readonly isSecret: boolean;
  /** Text in, value or problems out. */
  readonly schema: z.ZodType<T, string>;
}

/** What can be wrong with the file itself, whatever it holds. */
export type FileProblem = 'UNREADABLE' | 'EXPOSED';

export interface VariableOptions {
  readonly doc: string;
  readonly fallback?: string;
}

const HOST_PORT = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;
const PORT_MAX = 65_535;
const PLACE = z.string().regex(HOST_PORT).refine(hasPort, 'no port has that number');
const KEY_BYTES_MIN = 32;
const OURS_ALONE = ', closed to others (mode 0640 or less)';
const TEXT_MAX = 1_024;
/** Servers take headers of so many bytes; a token of somebody in many groups has several thousand. */
const SECRET_TEXT_MAX = 16_384;

const BLANKS = 'there are blanks around it';

function isBare(value: string): boolean {
  return value.trim() === value;
}

/** Some text; one with blanks around it would be another name, issuer or id, and nobody would see it. */
export function text(name: string, options: VariableOptions): Variable<string> {
  return make(name, options, {
    range: `1 to ${String(TEXT_MAX)} characters, no blanks around them`,
    schema: z.string().min(1).max(TEXT_MAX).refine(isBare, BLANKS),
  });
}

/** Some text that is secret by itself, such as a token; a file is better. */
export function secretText(name: string, options: VariableOptions): Variable<string> {
  const schema = z.string().min(1).max(SECRET_TEXT_MAX);
  return { ...make(name, options, { range: `1 to ${String(SECRET_TEXT_MAX)} characters`, schema }), isSecret: true };
}

/** A whole number within bounds; the unit is part of its name too. */
export function integer(
  name: string,
  options: VariableOptions & { readonly min: number; readonly max: number; readonly unit: string | null },
): Variable<number> {
  const { min, max, unit } = options;
  const schema = z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
  return { ...make(name, options, { range: `a whole number, ${String(min)} to ${String(max)}`, schema }), unit };
}

/** A TCP port; 0 takes a free one. */
export function port(name: string, options: VariableOptions): Variable<number> {
  return integer(name, { ...options, min: 0, max: PORT_MAX, unit: 'TCP port, 0 for any free one' });
}

/** `host:port`, several with commas. */
export function hostPorts(name: string, options: VariableOptions): Variable<readonly string[]> {
  const several = z.string().transform((value) => value.split(',').map((part) => part.trim()));
  const schema = several.pipe(z.array(PLACE).min(1));
  return make(name, options, { range: 'host:port, several separated by commas', schema });
}

/** `host:port`, one. */
export function hostPort(name: string, options: VariableOptions): Variable<string> {
  return make(name, options, { range: 'host:port', schema: PLACE });
}

function hasPort(place: string): boolean {
  const number = Number(place.slice(place.lastIndexOf(':') + 1));
  return number >= 1 && number <= PORT_MAX;
}

/** Addresses and networks, `10.0.0.7` or `10.0.0.0/8`, IPv4 or IPv6, several with commas. */
export function networks(name: string, options: VariableOptions): Variable<readonly string[]> {
  const schema = z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(z.array(z.string().refine(isNetwork, { error: 'is no address and no network' })).min(1));
  return make(name, options, { range: 'an address or a network (10.0.0.0/8), several separated by commas', schema });
}

function isNetwork(text: string): boolean {
  const [address = '', length, ...more] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return (
    bits > 0 && more.length === 0 && (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits))
  );
}

/** An absolute address of one of the protocols. One of HTTP carries no user and password: they are not sent, and whoever is told the address is told them. */
export function url(
  name: string,
  options: VariableOptions & { readonly protocols: readonly string[] },
): Variable<string> {
  const fits = (value: string): boolean => URL.canParse(value) && options.protocols.includes(new URL(value).protocol);
  const isHttp = options.protocols.some((protocol) => HTTP.includes(protocol));
  return make(name, options, {
    range: `an absolute address, ${options.protocols.map((protocol) => `${protocol}//`).join(' or ')}${isHttp ? ', without user and password' : ''}`,
    schema: z
      .string()
      .refine(isBare, { abort: true, error: BLANKS })
      .refine(fits, { abort: true })
      .refine((value) => !isHttp || !hasCredentials(value), 'it carries a user or a password'),
  });
}

/** Address of a PostgreSQL database, with none of the parameters that would take the place of what the program sets itself. */
export function databaseUrl(name: string, options: VariableOptions): Variable<string> {
  const { schema, range, ...rest } = url(name, { ...options, protocols: ['postgres:', 'postgresql:'] });
  return {
    ...rest,
    range: `${range}, without ${SAID_BY_US.join(', ')}`,
    schema: schema.superRefine((address, context) => {
      const given = URL.canParse(address) ? new URL(address).searchParams : new URLSearchParams();
      for (const parameter of SAID_BY_US.filter((one) => given.has(one)))
        context.addIssue({ code: 'custom', message: `the program sets ${parameter} itself` });
    }),
  };
}

/** One of a list of words. */
export function oneOf<const T extends readonly [string, ...string[]]>(
  name: string,
  values: T,
  options: VariableOptions,
): Variable<T[number]> {
  return make(name, options, { range: `one of ${values.join(', ')}`, schema: z.string().pipe(z.enum(values)) });
}

/** Names, several with commas, none twice. `form` says in words what `pattern` takes. */
export function names(
  name: string,
  options: VariableOptions & { readonly pattern: RegExp; readonly form: string },
): Variable<readonly string[]> {
  const { pattern, form } = options;
  const schema = z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(
      z.array(z.string()).superRefine((given, context) => {
        for (const each of given)
          if (!pattern.test(each))
            context.addIssue({ code: 'custom', message: `${JSON.stringify(each)} is no such name` });
        for (const each of new Set(given.filter((one, at) => given.indexOf(one) !== at)))
          context.addIssue({ code: 'custom', message: `${JSON.stringify(each)} stands there twice` });
      }),
    );
  return make(name, options, { range: `${form}, several separated by commas`, schema });
}

/** A path to a file that can be read and holds no secret; the value is its content. */
export function file(name: string, options: VariableOptions): Variable<string> {
  const schema = z
    .string()
    .min(1)
    .transform((path, context) => read(path, context, { closed: false })?.toString('utf8') ?? z.NEVER);
  return make(name, options, { range: 'path of a readable file', schema });
}

/** A path to a file with a secret text; the value is its content. */
export function secretTextFile(name: string, options: VariableOptions): Variable<string> {
  const schema = z
    .string()
    .min(1)
    .transform((path, context) => secretIn(path, context)?.toString('utf8') ?? z.NEVER);
  return { ...make(name, options, { range: `path of a readable file${OURS_ALONE}`, schema }), isSecretFile: true };
}

/**
 * A path to a file that holds a key.
 *
 * Shape:  64 or more hex digits give their bytes, anything else counts as it is; at least 32 bytes.
 */
export function secretFile(name: string, options: VariableOptions): Variable<Buffer> {
  const schema = z
    .string()
    .min(1)
    .transform((path, context) => {
      const bytes = secretIn(path, context);
      if (!bytes) return z.NEVER;
      const key = keyOf(bytes);
      if (key.length >= KEY_BYTES_MIN) return key;
      context.addIssue({
        code: 'custom',
        message: `the file holds ${String(key.length)} bytes of key, at least ${String(KEY_BYTES_MIN)} are needed`,
      });
      return z.NEVER;
    });
  return {
    ...make(name, options, {
      range: `path of a readable file with at least ${String(KEY_BYTES_MIN)} bytes (or their hex digits)${OURS_ALONE}`,
      schema,
    }),
    isSecretFile: true,
  };
}

/** A path to a file with a secret that somebody else reads; the value is the path, of a file that fits now. */
export function secretPath(name: string, options: VariableOptions): Variable<string> {
  const schema = z
    .string()
    .min(1)
    .transform((path, context) => (secretIn(path, context) === null ? z.NEVER : path));
  return { ...make(name, options, { range: `path of a readable file${OURS_ALONE}`, schema }), isSecretFile: true };
}

/** A path to a file that holds a password; the value is its text without the line's end. */
export function passwordFile(name: string, options: VariableOptions): Variable<string> {
  const { schema, ...rest } = secretTextFile(name, options);
  const isThere = (password: string): boolean => password !== '';
  return {
    ...rest,
    schema: schema.transform((password) => password.trimEnd()).refine(isThere, 'the file holds no password'),
  };
}

/** An address with the password of a file, where there is one. Errors: Failure(CONFIG_INVALID) for an address that can have none. */
export function withPassword(address: string, password: string | undefined): string {
  if (password === undefined) return address;
  const parsed = new URL(address);
  parsed.password = encodeURIComponent(password);
  if (parsed.password !== '' || password === '') return parsed.toString();
  throw new Failure(
    'CONFIG_INVALID',
    'an address without a host takes no password of a file: name the host, or say the password in the address (?password=…)',
  );
}

/** The variable may be absent; the value is then undefined. */
export function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, isOptional: true };
}

function make<T>(
  name: string,
  { doc, fallback }: VariableOptions,
  { range, schema }: { readonly range: string; readonly schema: z.ZodType<T, string> },
): Variable<T> {
  const common = { unit: null, isOptional: false, isSecretFile: false, isSecret: false };
  return { ...common, name, doc, range, fallback: fallback ?? null, schema };
}

/** Reads what its owner and its group alone may open. */
function secretIn(path: string, context: z.RefinementCtx): Buffer | null {
  return read(path, context, { closed: true });
}

/** The file that is judged is the one that is read. */
function read(path: string, context: z.RefinementCtx, { closed }: { readonly closed: boolean }): Buffer | null {
  const refuse = (problem: FileProblem, message: string): null => {
    context.addIssue({ code: 'custom', message, params: { problem } });
    return null;
  };
  try {
    const opened = openSync(path, 'r');
    try {
      const exposed = closed ? exposureOf(path, fstatSync(opened).mode) : null;
      return exposed === null ? readFileSync(opened) : refuse('EXPOSED', exposed);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    return refuse('UNREADABLE', `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function keyOf(bytes: Buffer): Buffer {
  const digits = bytes.toString('latin1').trim();
  return /^([0-9a-fA-F]{2}){32,}$/.test(digits) ? Buffer.from(digits, 'hex') : bytes;
}
