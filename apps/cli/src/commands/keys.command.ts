// recourse keys …: makes a key that speaks on wires or signs logs, and says what a keyring holds. Asks no service.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import { believedTextIn } from '@recourse/kafka';
import { parseKeyring, publicKeyText, signerOf, SPEAKER_ROLES } from '@recourse/kernel';
import type { KnownKey } from '@recourse/kernel';
import { formatTable, instant } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';

interface NewOptions {
  readonly speaksAs: string;
  readonly names: string;
  readonly tenants: string;
  readonly out: string;
  readonly validUntil?: string;
}

export function addKeys(program: Command, act: Act): void {
  const keys = program.command('keys').description('keys that speak on wires and sign logs');
  keys
    .command('new')
    .description('makes a key: the private one goes into a file, the entry of the keyring is printed')
    .argument('<id>', 'id of the key, as signatures name it')
    .addOption(new Option('--speaks-as <role>', 'whom it speaks as').choices(SPEAKER_ROLES).makeOptionMandatory())
    .option('--names <names>', 'services, agents, sources, adapters or consumers, with commas; * is all', '*')
    .option('--tenants <tenants>', 'tenants it speaks for, with commas; * is all', '*')
    .option('--valid-until <instant>', 'until when, ISO 8601')
    .requiredOption('--out <file>', 'file of the private key; it must not be there')
    .action(
      act<NewOptions>((session, options, id = '') => {
        makeKey(session, options, id);
        return Promise.resolve(undefined);
      }),
    );
  keys
    .command('check')
    .description('reads a keyring and lists its keys, or says where it is wrong')
    .argument('<keyring>', 'its file')
    .action(
      act((session, _options, file = '') => {
        checkRing(session, resolve(session.folder, file));
        return Promise.resolve(undefined);
      }),
    );
}

function makeKey(session: Session, options: NewOptions, id: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const entry = {
    id,
    public_key: publicKeyText(publicKey),
    speaks_as: options.speaksAs,
    names: listed(options.names),
    tenants: listed(options.tenants),
    ...(options.validUntil === undefined ? {} : { valid_until: options.validUntil }),
  };
  // What no keyring would take is no key either.
  usable(() => {
    signerOf(id, pem);
    parseKeyring(JSON.stringify({ keys: [entry] }));
  });
  const file = resolve(session.folder, options.out);
  try {
    writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new CliProblem('KEY_NOT_WRITTEN', `${file} cannot be written, or is there already`, 'usage', {
      cause,
      remedy: 'Name a file that is not there: a key that is overwritten speaks no more.',
    });
  }
  session.show({ file, entry }, () =>
    [
      `the private key is in ${file}; put this into the list \`keys\` of the keyring:`,
      JSON.stringify(entry, null, 2),
    ].join('\n'),
  );
}

const COLUMNS = [
  { title: 'KEY', of: ({ keyId }: KnownKey) => keyId },
  { title: 'SPEAKS AS', of: ({ roles }: KnownKey) => roles.join(', ') },
  { title: 'NAMES', of: ({ names }: KnownKey) => names.join(', ') },
  { title: 'TENANTS', of: ({ tenants }: KnownKey) => tenants.join(', ') },
  { title: 'FROM', of: ({ validFrom }: KnownKey) => instant(validFrom) },
  { title: 'UNTIL', of: ({ validUntil }: KnownKey) => instant(validUntil) },
  { title: 'REVOKED', of: ({ revokedAt }: KnownKey) => instant(revokedAt) },
];

function checkRing(session: Session, file: string): void {
  const text = textIn(file);
  const keys = [...usable(() => parseKeyring(text)).values()];
  session.show(
    keys.map(({ keyId, roles, names, tenants, validFrom, validUntil, revokedAt }) => ({
      ...{ id: keyId, speaks_as: roles, names, tenants },
      ...{ valid_from: validFrom, valid_until: validUntil, revoked_at: revokedAt },
    })),
    () => formatTable(COLUMNS, keys),
  );
}

function textIn(file: string): string {
  try {
    return believedTextIn(file);
  } catch (cause) {
    // What is no error of the system is one of the file's mode: no process would believe it.
    if (cause instanceof Error && !('code' in cause))
      throw new CliProblem('KEYRING_INVALID', cause.message, 'usage', { cause });
    throw new CliProblem('FILE_UNREADABLE', `${file} cannot be read`, 'usage', {
      cause,
      remedy: 'Name the file of a keyring: JSON of {"keys": [...]}, whose entries `recourse keys new` prints.',
    });
  }
}

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliProblem('KEYRING_INVALID', why.replace(/^KEYRING_INVALID: /u, ''), 'usage', { cause });
  }
}

function listed(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}
