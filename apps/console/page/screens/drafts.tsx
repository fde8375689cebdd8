// Drafts of contracts from what a tool comes with: the registry proposes, a person decides and registers.
import { useState } from 'react';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import { answered, commanded, contracts, underKey } from '../api/clients.js';
import { ApiProblem } from '../api/problem.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.tsx';
import type { Typing } from '../parts/field.tsx';
import { Card, Text } from '../parts/shown.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ROW } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { textIn } from '../api/rows.js';

const DRAFT = z.object({ contract: ROW, decide: z.array(z.string()) });
const DRAFTS = z.object({ source: z.string(), drafts: z.array(DRAFT) });
type Drafted = z.infer<typeof DRAFTS>;

const DOCUMENT_MAX = 200_000;
const SOURCES: Readonly<Record<string, string>> = {
  mcp: 'an MCP tool list',
  openapi: 'an OpenAPI document',
  tools: 'declarations of tools',
};

export function Drafts(): ReactNode {
  const [draft, write] = useDraft('contracts');
  const [found, setFound] = useState<Drafted | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const make = async (): Promise<void> => {
    setProblem(null);
    try {
      setFound(await draftsOf(draft));
    } catch (cause) {
      setProblem(cause);
    }
  };
  return (
    <>
      <header className="screen">
        <h1>Draft contracts</h1>
        <p className="quiet">
          Paste what the tools come with. You get a first proposal for each, and what only a person can decide. A draft
          never binds.
        </p>
      </header>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <Fields draft={draft} write={write} />
        {problem === null ? null : <Trouble cause={problem} />}
        <button type="submit" className="primary">
          Draft
        </button>
      </form>
      {found === null ? null : (
        <p role="status">
          {found.drafts.length.toLocaleString('en')} from {SOURCES[found.source] ?? 'the document'}.
        </p>
      )}
      {found?.drafts.map((one) => (
        <Draft key={textIn(one.contract, 'name')} draft={one} />
      ))}
    </>
  );
}

function Fields({ draft, write }: Typing): ReactNode {
  const typed = { of: { draft, write }, maxLength: 200 };
  return (
    <>
      <label className="field">
        Tool list, OpenAPI document or declarations, as JSON
        <textarea
          required
          rows={10}
          maxLength={DOCUMENT_MAX}
          spellCheck={false}
          value={draft['document'] ?? ''}
          onChange={({ target }) => {
            write('document', target.value);
          }}
        />
      </label>
      <Field
        {...typed}
        name="adapter"
        label="Adapter: what stands before the dot of each capability"
        placeholder="tools"
      />
      <Field {...typed} name="owner" label="Who answers for them" placeholder="role:payments" />
      <Field
        {...typed}
        name="currency"
        label="Currency of amounts that name none"
        placeholder="INR"
        pattern="[A-Z]{3}"
      />
    </>
  );
}

/** Errors: ApiProblem, also where the text is no JSON. */
function draftsOf({ document = '', adapter, owner, currency }: Readonly<Record<string, string>>): Promise<Drafted> {
  const given = (name: string, value: string | undefined): object =>
    value === undefined || value === '' ? {} : { [name]: value };
  const body = {
    document: jsonIn(document),
    ...given('adapter', adapter),
    ...given('owner', owner),
    ...given('currency', currency),
  };
  return answered(DRAFTS, contracts.POST('/v1/contract-drafts', { body }));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiProblem('TEXT_NO_JSON', 400, cause instanceof Error ? cause.message : '');
  }
}

function Draft({ draft: { contract, decide } }: { readonly draft: z.infer<typeof DRAFT> }): ReactNode {
  const name = textIn(contract, 'name') ?? '';
  const [kept, write] = useDraft(`contract.${name}`);
  const [isOpen, setOpen] = useState(false);
  const person = usePerson();
  const text = kept['contract'] ?? JSON.stringify(contract, null, 2);
  const verb: Verb = {
    name: `Register ${name}`,
    isUnexplained: true,
    blocked: isOneOf(person, ['contract_editor', 'administrator', 'platform_editor'])
      ? null
      : 'Registering is for contract editors.',
    happens: [
      'The registry checks the text below and lists all that is wrong with it at once.',
      'When nothing is, it binds actions of this capability that begin later. A weaker version waits for a second person.',
    ],
    send: ({ key }) =>
      commanded(contracts.POST('/v1/contracts', { params: { header: underKey(key) }, body: contractIn(text, name) })),
  };
  return (
    <Card title={name}>
      <p>What you have to decide:</p>
      <ul>
        {decide.map((question) => (
          <li key={question}>
            <Text>{question}</Text>
          </li>
        ))}
      </ul>
      <label className="field">
        Contract, as JSON; take the line <code>draft</code> out when all is decided
        <textarea
          rows={14}
          maxLength={DOCUMENT_MAX}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            write('contract', target.value);
          }}
        />
      </label>
      <Decision verb={verb} about={`register.${name}`} isOpen={isOpen} onOpen={setOpen} />
    </Card>
  );
}

/** The registry says what else a contract must be. */
function contractIn(text: string, name: string): Row & { readonly name: string } {
  const read = ROW.safeParse(jsonIn(text));
  if (!read.success) throw new ApiProblem('TEXT_NO_JSON', 400, 'A contract is a JSON object.');
  return { ...read.data, name: textIn(read.data, 'name') ?? name };
}
