// Keys for specs: a keyring and who signs with it.
import { generateKeyPairSync } from 'node:crypto';
import { parseKeyring, publicKeyText, signerOf } from '@recourse/kernel';
import type { Keyring, Signer, SpeakerRole } from '@recourse/kernel';

/** A key to be: in the keyring as these say, all names and tenants unless told. */
export interface KeyWanted {
  readonly role: SpeakerRole | readonly SpeakerRole[];
  readonly names?: readonly string[];
  readonly tenants?: readonly string[];
  readonly valid_from?: string;
  readonly valid_until?: string;
  readonly revoked_at?: string;
}

export interface TestKeys {
  readonly keyring: Keyring;
  /** The keyring as a file holds it. */
  readonly text: string;
  /** Signs as the key of that id. */
  readonly signer: (id: string) => Signer;
  /** The private key, as a file holds it. */
  readonly pem: (id: string) => string;
}

/** Makes a key for each id. */
export function testKeys(wanted: Readonly<Record<string, KeyWanted>>): TestKeys {
  const pems = new Map<string, string>();
  const keys = Object.entries(wanted).map(([id, { role, names = ['*'], tenants = ['*'], ...bounds }]) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    pems.set(id, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    return { id, public_key: publicKeyText(publicKey), speaks_as: role, names, tenants, ...bounds };
  });
  const text = JSON.stringify({ keys });
  const pem = (id: string): string => pems.get(id) ?? '';
  return { keyring: parseKeyring(text), text, pem, signer: (id) => signerOf(id, pem(id)) };
}
