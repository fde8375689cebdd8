// As whom a program speaks to Kafka, and by which authority it knows a broker. Passwords come in files, never in variables.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Failure } from '@recourse/kernel';
import type { KafkaOptions } from './options.js';
import { secretTextIn } from './secret-file.js';

/** What the environment says; programs with a table of their variables read the same three there. */
export const ACCESS_VARIABLES = {
  user: 'RECOURSE_KAFKA_USER',
  passwordFile: 'RECOURSE_KAFKA_PASSWORD_FILE',
  caFile: 'RECOURSE_KAFKA_CA_FILE',
} as const;

export interface AccessGiven {
  readonly user?: string | undefined;
  /** The password itself. */
  readonly password?: string | undefined;
  /** Certificates, PEM, that sign the brokers'. */
  readonly ca?: string | undefined;
}

export type KafkaAccess = Pick<KafkaOptions, 'sasl' | 'ssl' | 'signing'>;

/**
 * The options of a client. With a user it speaks SCRAM-SHA-512, with certificates TLS; with neither it is nobody in clear text.
 *
 * Errors: Failure(CONFIG_INVALID) when only one of user and password is there, or no certificate where there should be.
 */
export function accessOf({ user, password, ca }: AccessGiven): KafkaAccess {
  if ((user === undefined) !== (password === undefined))
    throw new Failure(
      'CONFIG_INVALID',
      `set both of ${ACCESS_VARIABLES.user} and ${ACCESS_VARIABLES.passwordFile}, or neither`,
    );
  return {
    ...(user === undefined || password === undefined
      ? {}
      : { sasl: { mechanism: 'scram-sha-512', username: user, password } }),
    ...(ca === undefined ? {} : { ssl: { ca: certificates(ca) } }),
  };
}

/**
 * The same from an environment, for programs without a table.
 *
 * Errors: Failure(CONFIG_INVALID), also for a file that cannot be read, and for a password that others may read.
 */
export function accessIn(environment: Readonly<Record<string, string | undefined>>): KafkaAccess {
  const { user, passwordFile, caFile } = ACCESS_VARIABLES;
  return accessOf({
    user: environment[user] === '' ? undefined : environment[user],
    password: contentOf(passwordFile, environment[passwordFile], secretTextIn)?.trimEnd(),
    ca: contentOf(caFile, environment[caFile], (path) => readFileSync(path, 'utf8')),
  });
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** The text, where it holds certificates and each can be read: TLS passes over what it cannot read, and then trusts nobody. */
function certificates(pem: string): string {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new Failure(
      'CONFIG_INVALID',
      `${ACCESS_VARIABLES.caFile} names a file without a certificate: it wants PEM, from BEGIN CERTIFICATE to END CERTIFICATE`,
    );
  found.forEach((one, at) => {
    try {
      new X509Certificate(one);
    } catch (cause) {
      const place = `${ACCESS_VARIABLES.caFile}: certificate ${String(at + 1)} of ${String(found.length)}`;
      throw new Failure('CONFIG_INVALID', `${place} cannot be read: ${messageOf(cause)}`, { cause });
    }
  });
  return pem;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function contentOf(variable: string, path: string | undefined, read: (path: string) => string): string | undefined {
  if (path === undefined || path === '') return undefined;
  try {
    return read(path);
  } catch (cause) {
    throw new Failure('CONFIG_INVALID', `${variable} names ${path}: ${messageOf(cause)}`, { cause });
  }
}
