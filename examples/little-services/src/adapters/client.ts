// Asking a little service. Only a refusal, or a request that never left, proves that nothing happened.
import { ask, wasNotSent } from '@recourse/example-drifted-refund';
import type { HttpAsk } from '@recourse/example-drifted-refund';
import { ToolRejected } from '@recourse/sdk';
import { z } from 'zod';
import type { Doc } from '../services/world.js';

const docShape = z.record(z.string(), z.json());
const effectsShape = z.object({ effects: z.array(z.object({ thing: z.string() })) });
const thingsShape = z.object({ things: z.array(docShape) });
/** Longer than every contract waits, so that whoever calls gives up first. */
const TIMEOUT_MS = 20_000;

/** What an adapter needs of the services. Errors: ToolRejected for a refusal, any other when nobody knows. */
export interface Services {
  operate(
    operation: string,
    body: Doc,
    headers?: { readonly key?: string | null; readonly ifMatch?: string | null },
  ): Promise<Doc>;
  /** Errors: ToolRejected(NOT_FOUND). */
  thing(service: string, id: string): Promise<Doc>;
  /** Things of a service whose fields are these. */
  things(service: string, where: Readonly<Record<string, string>>): Promise<readonly Doc[]>;
  /** Id of what an operation made under a key; null when it made nothing. */
  madeUnder(operation: string, key: string): Promise<string | null>;
}

/** The services over HTTP. */
export class ServicesClient implements Services {
  constructor(private readonly url: string) {}

  operate(
    operation: string,
    body: Doc,
    { key = null, ifMatch = null }: { readonly key?: string | null; readonly ifMatch?: string | null } = {},
  ): Promise<Doc> {
    const headers = {
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...(ifMatch === null ? {} : { 'if-match': ifMatch }),
    };
    return this.ask(`/${operation}`, { method: 'POST', body, headers });
  }

  thing(service: string, id: string): Promise<Doc> {
    return this.ask(`/things/${service}/${encodeURIComponent(id)}`);
  }

  async things(service: string, where: Readonly<Record<string, string>>): Promise<readonly Doc[]> {
    return thingsShape.parse(await this.ask(`/things/${service}?${new URLSearchParams(where).toString()}`)).things;
  }

  async madeUnder(operation: string, key: string): Promise<string | null> {
    const { effects } = effectsShape.parse(
      await this.ask(`/effects?${new URLSearchParams({ operation, key }).toString()}`),
    );
    return effects[0]?.thing ?? null;
  }

  private async ask(path: string, how: HttpAsk = {}): Promise<Doc> {
    const { status, body } = await ask(`${this.url}${path}`, { ...how, timeoutMs: TIMEOUT_MS }).catch(
      (error: unknown) => {
        throw wasNotSent(error) ? new ToolRejected('NOT_SENT', 'the services do not listen', { cause: error }) : error;
      },
    );
    if (status >= 400 && status < 500) throw new ToolRejected(String(body['code']), String(body['message']));
    if (status >= 500) throw new Error(`the services answered ${String(status)}`);
    return docShape.parse(body);
  }
}
