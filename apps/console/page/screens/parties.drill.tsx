// A drill of a source: what would fall if it said that an assumption is false. The ledger looks; nothing is stated.
import { useState } from 'react';
import type { ReactNode } from 'react';
import { answered, ledger } from '../api/clients.js';
import { ROW } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { usePerson } from '../app/session.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.tsx';
import { Card } from '../parts/shown.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { drillWords } from './fall.rules.js';

/** What was told, and of which fields. */
interface Told {
  readonly of: Readonly<Record<string, string>>;
  readonly found?: Row;
  readonly problem?: unknown;
}

export function SourceDrill({ sources }: { readonly sources: readonly string[] }): ReactNode {
  const [draft, write] = useDraft('drill');
  const [told, setTold] = useState<Told | null>(null);
  const isOfAll = usePerson().tenant === '*';
  const drill = async (): Promise<void> => {
    setTold(null);
    setTold({
      of: draft,
      ...(await drilled(draft).then(
        (found) => ({ found }),
        (problem: unknown) => ({ problem }),
      )),
    });
  };
  const typing = { draft, write };
  // What was told of other fields than these is no answer to them.
  const { found, problem } = told?.of === draft ? told : { found: undefined, problem: undefined };
  return (
    <Card title="Drill of a source">
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void drill();
        }}
      >
        <p className="quiet" id="drill-happens">
          The ledger looks what would fall if the source said now that the assumption is false. Nothing is stated,
          recorded or told, and nobody is asked.
        </p>
        <Field
          of={typing}
          name="source"
          label="Source, as its token or its records name it"
          required
          list="drill-sources"
        />
        <datalist id="drill-sources">
          {sources.map((source) => (
            <option key={source} value={source} />
          ))}
        </datalist>
        <Field
          of={typing}
          name="ref"
          label="Assumption that would be false"
          required
          placeholder="order/4711#not_shipped"
        />
        <Field of={typing} name="run_id" label="Only of this run, where it is said of one" />
        {isOfAll ? <Field of={typing} name="tenant" label="Tenant" required /> : null}
        <button type="submit" aria-describedby="drill-happens">
          Show what would fall
        </button>
      </form>
      {problem === undefined ? null : <Trouble cause={problem} />}
      {found === undefined ? null : (
        <div role="status" aria-label="What would fall">
          <ul className="happens">
            {drillWords(found).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}

/** Errors: ApiProblem. */
function drilled({ source = '', ref = '', run_id, tenant }: Readonly<Record<string, string>>): Promise<Row> {
  const more = (name: string, text: string | undefined): object => (text ? { [name]: text } : {});
  const query = { source, ref, ...more('run_id', run_id), ...more('tenant', tenant) };
  return answered(ROW, ledger.GET('/v1/sources/drill', { params: { query } }));
}
