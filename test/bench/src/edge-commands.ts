// Commands on the wire as the HTTP edge puts them there: signed with its key, for a bench that leaves HTTP out.
import { readFileSync } from 'node:fs';
import type { SystemPlan } from '@recourse/dev-stack';
import { signCommand } from '@recourse/event-log';
import type { WireProducer } from '@recourse/kafka';
import { deriveId, sha256Hex } from '@recourse/kernel';
import type { CommandEnvelope } from '@recourse/messages';
import type { BenchStack } from './bench-stack.js';
import { sharedClockMs } from './worker-process.js';

export const COMMANDS = 'recourse.ledger-commands';

/** One command: who asks through which route, and what the record holds beside its envelope. */
export interface EdgeCommand {
  readonly type: 'UndoRun' | 'TriggerRollback';
  readonly route: string;
  readonly tenant: string;
  readonly principal: string;
  readonly role: string;
  /** Unique per command. */
  readonly idempotencyKey: string;
  readonly body: { readonly run_id: string } & Readonly<Record<string, unknown>>;
}

/** Sends signed commands; each call resolves with the moment before it was sent, on the clock that all processes share. */
export function edgeCommands(
  { codecs }: BenchStack,
  wire: WireProducer,
  { secrets }: SystemPlan,
): (command: EdgeCommand) => Promise<number> {
  const key = Buffer.from(readFileSync(secrets.edgeKeyFile, 'utf8').trim(), 'hex');
  return async ({ type, route, tenant, principal, role, idempotencyKey, body }) => {
    const unsigned: CommandEnvelope = {
      command_id: deriveId('cmd', tenant, principal, route, idempotencyKey),
      tenant,
      principal,
      accounts: [],
      roles: [role],
      route,
      idempotency_key: idempotencyKey,
      body_sha256: Buffer.from(sha256Hex(idempotencyKey), 'hex'),
      issued_at: Date.now(),
      signature: Buffer.alloc(0),
    };
    const signature = signCommand(key, {
      topic: COMMANDS,
      type: `recourse.mutations.${type}`,
      body: { envelope: unsigned, ...body },
    });
    const value = codecs.encode(COMMANDS, type, { envelope: { ...unsigned, signature }, ...body });
    const sentAt = sharedClockMs();
    await wire.send(COMMANDS, [{ key: Buffer.from(body.run_id), value }]);
    return sentAt;
  };
}
