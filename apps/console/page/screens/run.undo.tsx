// The undo of a run: previewed before it is asked for, and told of afterwards.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { commanded, ledger, underKey } from '../api/clients.js';
import { rowQuery } from '../api/lists.js';
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import { useHeld } from '../parts/held.js';
import { stillAs } from '../parts/held.rules.js';
import type { Verb } from '../parts/verb.js';
import { Card, Code, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { isSameUndo, previewOf, undoCounts, undoHappens, undoOf, whyNoUndo } from './undo.rules.js';
import type { Undoing } from './undo.rules.js';
import { forRoles } from './verbs.js';

interface UndoProps {
  readonly runId: string;
  /** Whose run of this name; null where nobody is known to have one. */
  readonly tenant: string | null;
  /** Undos that somebody asked for. */
  readonly reports: readonly Row[];
}

export function Undo({ runId, tenant, reports }: UndoProps): ReactNode {
  return (
    <Card title="Undo">
      <Previewed runId={runId} tenant={tenant} />
      {reports.map((row) => (
        <Report key={textIn(row, 'undo_id') ?? ''} id={textIn(row, 'undo_id') ?? ''} />
      ))}
    </Card>
  );
}

/** What an undo would do, and the button for it. */
export function Previewed(undoing: Undoing): ReactNode {
  const { runId, tenant, mutationId = '' } = undoing;
  const { data, error, refetch } = useQuery(
    rowQuery('ledger', ['undo-preview', runId, tenant ?? '', mutationId], () =>
      ledger.GET('/v1/runs/{run_id}/undo-preview', { params: previewOf(undoing) }),
    ),
  );
  const read = async (): Promise<Row | undefined> => (await refetch({ throwOnError: true })).data;
  return (
    <>
      {error === null ? null : <Trouble cause={error} />}
      {data === undefined && error === null ? <Waiting what="what an undo would do" /> : null}
      {data === undefined ? null : (
        <>
          <p>An undo of this {mutationId === '' ? 'run' : 'effect alone'}, as things stand:</p>
          <Preview preview={data} />
          <AskUndo undoing={undoing} preview={data} read={read} />
        </>
      )}
    </>
  );
}

/** Who may ask for it, as the ledger lets in (libs/service/src/edge/access.ts). */
const UNDOES = ['reporter', 'requester', 'approver', 'administrator'] as const;

interface AskProps {
  readonly undoing: Undoing;
  readonly preview: Row;
  readonly read: () => Promise<Row | undefined>;
}

/** Whoever asks for it is held to the preview that they read. */
function AskUndo({ undoing, preview, read }: AskProps): ReactNode {
  const { name, seen, isChanged, open } = useHeld(preview, isSameUndo);
  const verbs = forRoles([undoVerb({ undoing, preview: seen, read })], UNDOES, usePerson().roles);
  return verbs.map((verb) => (
    <Decision
      key={verb.name}
      verb={verb}
      about={`undo.${undoing.runId}.${undoing.tenant ?? ''}.${undoing.mutationId ?? ''}`}
      isOpen={name !== null}
      isChanged={isChanged}
      onOpen={(opens) => {
        open(opens ? 'undo' : null);
      }}
    />
  ));
}

function Preview({ preview }: { readonly preview: Row }): ReactNode {
  return (
    <>
      <ul>
        {undoCounts(preview).map(([name, count, words]) => (
          <li key={name}>
            <b>{count}</b> {words}
          </li>
        ))}
      </ul>
      <ul className="quiet">
        {listIn(preview, 'items').map((item) => (
          <li key={textIn(item, 'mutation_id')}>
            <Code>{textIn(item, 'capability')}</Code>: {codeWords(textIn(item, 'outcome') ?? '')}
            {textIn(item, 'residue') === null ? '' : `; stays: ${textIn(item, 'residue') ?? ''}`}
          </li>
        ))}
      </ul>
    </>
  );
}

function undoVerb({ undoing, preview, read }: AskProps): Verb {
  return {
    name: undoing.mutationId === undefined ? 'Undo this run' : 'Undo this effect',
    isGrave: true,
    happens: undoHappens(preview),
    blocked: whyNoUndo(preview),
    still: stillAs(preview, { read, isSame: isSameUndo }),
    send: ({ reason, key }) =>
      commanded(
        ledger.POST('/v1/undos', {
          params: { header: underKey(key) },
          body: undoOf(undoing, reason),
        }),
      ),
  };
}

function Report({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useQuery(
    rowQuery('ledger', ['undo', id], () => ledger.GET('/v1/undos/{id}', { params: { path: { id } } })),
  );
  if (data === undefined) return error === null ? null : <Trouble cause={error} />;
  const words = [
    ['undone_clean', 'undone'],
    ['undone_with_residue', 'undone, and something stays different'],
    ['not_undone', 'not undone'],
    ['still_open', 'still open'],
  ] as const;
  return (
    <section aria-label="Report of an undo" className="report">
      {error === null ? null : <Trouble cause={error} isOld />}
      <h3>
        Asked by <Text>{textIn(data, 'asked_by') ?? 'nobody that is named'}</Text>{' '}
        <Time at={numberIn(data, 'opened_at') ?? 0} />: {codeWords(textIn(data, 'outcome') ?? '')}
      </h3>
      <ul>
        {words
          .filter(([name]) => (numberIn(data, 'counts', name) ?? 0) > 0)
          .map(([name, says]) => (
            <li key={name}>
              {numberIn(data, 'counts', name)} {says}
            </li>
          ))}
        {listIn(data, 'items').map((item) => (
          <li key={textIn(item, 'mutation_id')} className="quiet">
            <Code>{textIn(item, 'capability')}</Code>: {codeWords(textIn(item, 'outcome') ?? '')}
            {textIn(item, 'residue') === null ? '' : `; stays: ${textIn(item, 'residue') ?? ''}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
