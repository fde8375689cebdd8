// The whole system on a stack of its own, and the few requests that the specs of the edges need.
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planSystem, startProcesses, startStack, wipe } from '@recourse/dev-stack';
import type { Processes, SystemPlan } from '@recourse/dev-stack';
import { CONTRACTS, REFUND_POLICY } from '@recourse/example-drifted-refund';

export type Facts = Readonly<Record<string, unknown>>;
export type Side = Exclude<keyof SystemPlan['urls'], 'worker'>;
export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
}
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: Facts;
  readonly type: string;
}
export interface Asked {
  readonly body?: object;
  readonly person?: Person;
  readonly token?: string;
  readonly key?: string;
}

export const TENANT = 'demo';
export const INITIATOR: Person = { subject: 'asha', roles: ['approver'] };
export const OPERATOR: Person = { subject: 'mira', roles: ['approver', 'operator', 'payload_reader'] };
export const CONTRACT_EDITOR: Person = { subject: 'ravi', roles: ['contract_editor'] };
export const BUDGET_OWNER: Person = { subject: 'leela', roles: ['budget_owner'] };
export const SERVICE_SIDES = ['registry', 'ledger', 'orchestrator', 'budget'] as const satisfies readonly Side[];

/** Where the services put their spans, in the data directory. */
export const SPANS = 'spans.jsonl';
const PATIENCE_MS = 60_000;
const POLL_MS = 100;
const READY_WITHIN_MS = 180_000;

export interface OpenItem {
  readonly stepId: string;
  readonly digest: string;
  readonly mutationId: string;
  readonly refundId: string;
}

/** One system for a file of specs. */
export class System {
  private orders = 0;

  private constructor(
    readonly plan: SystemPlan,
    readonly processes: Processes,
    readonly dataDir: string,
    private readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<System> {
    const dataDir = mkdtempSync(join(tmpdir(), 'recourse-e2e-'));
    const stack = await startStack({ dataDir, handleSignals: false });
    const stopStack = async (): Promise<void> => {
      await stack.stop();
      await wipe(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    };
    try {
      const plan = await planSystem(stack, { dataDir, serviceEnv: { RECOURSE_TRACE_FILE: join(dataDir, SPANS) } });
      const processes = await startProcesses(
        plan.processes.map((spec) => ({ ...spec, readyWithinMs: READY_WITHIN_MS })),
        { logDir: join(dataDir, 'logs'), book: stack.book },
      );
      const system = new System(plan, processes, dataDir, async () => {
        await processes.stop();
        await stopStack();
      });
      await system.post('registry', '/v1/entries/policy_bundle', {
        body: REFUND_POLICY,
        person: CONTRACT_EDITOR,
        key: REFUND_POLICY.name,
      });
      for (const contract of CONTRACTS)
        await system.post('registry', '/v1/contracts', { body: contract, person: CONTRACT_EDITOR, key: contract.name });
      return system;
    } catch (cause) {
      await stopStack();
      throw cause;
    }
  }

  close(): Promise<void> {
    return this.stop();
  }

  get(side: Side, path: string, asked: Asked = {}): Promise<Reply> {
    return this.ask('GET', side, path, asked);
  }
  post(side: Side, path: string, asked: Asked = {}): Promise<Reply> {
    return this.ask('POST', side, path, asked);
  }

  /** A token of the development issuer. */
  async tokenOf(person: Person): Promise<string> {
    return String((await this.post('issuer', '/token', { body: { ...person, tenant: TENANT } })).body['access_token']);
  }

  /** A refund that drifted, up to the question to a person. */
  async openItem(capability = 'payments.issue_refund'): Promise<OpenItem> {
    this.orders += 1;
    const order = `e2e-${String(this.orders)}`;
    await this.post('warehouse', '/orders', { body: { order } });
    const { body } = await this.post('agent', '/runs', {
      body: { order, amount_minor: 1_000, initiator: INITIATOR.subject, capability },
      key: order,
    });
    const mutationId = String(([] as unknown[]).concat(body['mutation_ids'])[0]);
    await this.post('warehouse', `/orders/${order}/ship`, { body: {} });
    // In whatever state: a short window may be over before it is looked for.
    const query = `run_id=${encodeURIComponent(String(body['run_id']))}`;
    const item = await this.until(`a review item for ${JSON.stringify(body)}`, async () => {
      const { body: reviews } = await this.get('orchestrator', `/v1/reviews?${query}`, { person: OPERATOR });
      // The list of reviews holds objects.
      return ((reviews['items'] ?? []) as readonly Facts[]).find((each) => each['mutation_id'] === mutationId) ?? null;
    });
    // An item's ref is an object.
    const ref = item['ref'] as Facts;
    return {
      stepId: String(item['step_id']),
      digest: String(item['action_digest']),
      mutationId,
      refundId: String(ref['external_transaction_ref']),
    };
  }

  /** Approves, and says what was answered. */
  approve(
    { stepId, digest }: Pick<OpenItem, 'stepId' | 'digest'>,
    asked: Omit<Asked, 'body'> = { person: OPERATOR },
  ): Promise<Reply> {
    return this.post('orchestrator', `/v1/steps/${stepId}/approve`, {
      ...asked,
      body: { action_digest: digest, reason: 'the goods are on their way' },
    });
  }

  async restOf({ mutationId }: Pick<OpenItem, 'mutationId'>): Promise<string> {
    return this.until(`an end of ${mutationId}`, async () => {
      const state = String(
        (await this.get('ledger', `/v1/mutations/${mutationId}`, { person: OPERATOR })).body['recoverability'],
      );
      return ['compensated', 'compensation_failed', 'manual_resolution_required'].includes(state) ? state : null;
    });
  }

  async until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
    const deadlineAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== null) return found;
      if (Date.now() > deadlineAt) throw new Error(`waited for ${what}, in vain`);
      await new Promise((resolve) => {
        setTimeout(resolve, POLL_MS);
      });
    }
  }

  /** How often the provider reversed a refund. */
  async reversalsOf({ refundId }: Pick<OpenItem, 'refundId'>): Promise<number> {
    const { body } = await this.get('provider', '/effects');
    return (body['effects'] as readonly Facts[]).filter(
      (effect) => effect['kind'] === 'reversal' && effect['refund_id'] === refundId,
    ).length;
  }

  private async ask(
    method: 'GET' | 'POST',
    side: Side,
    path: string,
    { body, person, token, key }: Asked,
  ): Promise<Reply> {
    const bearer = token ?? (person === undefined ? undefined : await this.tokenOf(person));
    const headers = {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${this.plan.urls[side]}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    return { status: response.status, text, body: jsonIn(text), type: response.headers.get('content-type') ?? '' };
  }
}

function jsonIn(text: string): Facts {
  try {
    return JSON.parse(text) as Facts;
  } catch {
    return {};
  }
}

/** A token like one of the issuer's, with other claims or another header, signed with the issuer's own key. */
export function resigned(
  dataDir: string,
  token: string,
  change: { readonly claims?: Facts; readonly header?: Facts },
): string {
  const secret = createPrivateKey({
    key: JSON.parse(readFileSync(join(dataDir, 'issuer', 'issuer-key.json'), 'utf8')) as never,
    format: 'jwk',
  });
  const signed = changed(token, change);
  return `${signed}.${sign(null, Buffer.from(signed), secret).toString('base64url')}`;
}

/** The same token without a signature, as algorithm `none`. */
export function unsigned(token: string): string {
  return `${changed(token, { header: { alg: 'none' } })}.`;
}

/** The same token as HS256, "signed" with what everybody can read: the issuer's public key. */
export function confused(token: string, publicKey: string): string {
  const signed = changed(token, { header: { alg: 'HS256' } });
  return `${signed}.${createHmac('sha256', publicKey).update(signed).digest('base64url')}`;
}

function changed(
  token: string,
  { header = {}, claims = {} }: { readonly header?: Facts; readonly claims?: Facts },
): string {
  const [oldHeader = '', oldClaims = ''] = token.split('.');
  return [
    { ...partOf(oldHeader), ...header },
    { ...partOf(oldClaims), ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
}

const partOf = (text: string): Facts => JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Facts;
