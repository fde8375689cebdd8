// What worker and client of Temporal share.
export const NAMESPACE = 'bench';
export const TASK_QUEUE = 'bench';

/** The part of the client's package that is used. */
export interface TemporalClient {
  readonly Connection: { connect(options: object): Promise<TemporalConnection> };
  readonly Client: new (options: { readonly connection: TemporalConnection; readonly namespace: string }) => {
    readonly workflow: { execute(name: string, options: object): Promise<unknown> };
  };
}
interface TemporalConnection {
  readonly workflowService: { registerNamespace(request: object): Promise<unknown> };
}
