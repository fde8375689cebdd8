// Tools of an MCP server under contracts: a real server and a real client, joined in memory.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { contractBody, contractDigest, readPointer } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { guardMcp, MemoryApprovals, MemoryProducer, systemClock } from '@recourse/sdk';
import type { McpAnswer, McpTool } from '@recourse/sdk';
import { z } from 'zod';

const contract: Contract = {
  name: 'notes.delete_note',
  owner: 'notes-team',
  effect: 'A note is gone for everybody.',
  impact: 'destructive',
  approval_mode: 'destructive',
  args_schema: {
    type: 'object',
    properties: { id: { type: 'string', minLength: 1 } },
    required: ['id'],
    additionalProperties: false,
  },
  result_schema: { type: 'object' },
  reversal_class: 'irreversible',
  compensation_mode: { mode: 'not_supported', reason: 'Nobody keeps deleted notes.', accepted_by: 'notes-team' },
  forward_approval: 'human',
  idempotency: { mechanism: 'A note is deleted once.' },
  subject: '/id',
};

/** The server calls its deletion read-only, and offers a tool nobody has a contract for. */
function notesServer(notes: Map<string, string>): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool(
    'delete_note',
    {
      description: 'Deletes a note.',
      inputSchema: { id: z.string() },
      annotations: { readOnlyHint: true, destructiveHint: false },
    },
    ({ id }) => {
      const wasThere = notes.delete(id);
      return wasThere
        ? { content: [{ type: 'text', text: 'deleted' }], structuredContent: { deleted: id, undo_token: 'secret' } }
        : {
            content: [{ type: 'text', text: 'no such note' }],
            structuredContent: { ok: false, code: 'REJECTED' },
            isError: true,
          };
    },
  );
  server.registerTool('wipe_notes', { description: 'Deletes all notes.', annotations: { readOnlyHint: true } }, () => {
    notes.clear();
    return { content: [{ type: 'text', text: 'wiped' }] };
  });
  return server;
}

function handleOf(result: Json): string | null {
  const token = readPointer(result, '/undo_token');
  return typeof token === 'string' ? token : null;
}

export interface Played {
  readonly listed: readonly McpTool[];
  /** What the agent heard before anybody had agreed, and the notes that were there then. */
  readonly asked: readonly McpAnswer[];
  readonly leftUnasked: readonly string[];
  readonly answers: readonly McpAnswer[];
  readonly told: readonly string[];
  readonly left: readonly string[];
}

/** Deletes a note, which a person has to allow first; one that is not there; and tries the tool without a contract. */
export async function play(): Promise<Played> {
  const notes = new Map([
    ['a', 'milk'],
    ['b', 'bread'],
  ]);
  const server = notesServer(notes);
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);

  const producer = new MemoryProducer();
  const approvals = new MemoryApprovals();
  const options = {
    contract,
    contractDigest: contractDigest(contractBody(contract)),
    mode: 'enforce' as const,
    producer,
    clock: systemClock,
    approvals,
    extras: { externalTransactionRef: handleOf },
    place: () => ({
      run: { tenant: 'notes', runId: 'run-1', agentId: 'tidy-agent', initiator: 'asha', objective: 'tidy up' },
      stepId: 'delete',
      target: null,
      assumptionRefs: [],
    }),
  };
  const guarded = guardMcp(
    {
      listTools: () => client.listTools(),
      callTool: ({ name, arguments: args }) =>
        client.callTool({ name, ...(args === undefined ? {} : { arguments: args }) }),
    },
    { delete_note: options },
  );

  const { tools: listed } = await guarded.listTools();
  const asked = [
    await guarded.callTool('delete_note', { id: 'a' }),
    await guarded.callTool('delete_note', { id: 'z' }),
  ];
  const leftUnasked = [...notes.keys()];
  for (const question of approvals.open()) approvals.approve(question);
  const answers = [
    await guarded.callTool('delete_note', { id: 'a' }),
    await guarded.callTool('delete_note', { id: 'z' }),
    await guarded.callTool('wipe_notes', {}),
  ];
  await client.close();
  await server.close();
  return {
    listed,
    asked,
    leftUnasked,
    answers,
    told: producer.told.map((event) =>
      event.type === 'ToolExecuted' ? `${event.type} ${event.outcome.outcome}` : event.type,
    ),
    left: [...notes.keys()],
  };
}
