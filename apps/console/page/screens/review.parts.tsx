// The parts of a review.
import type { ReactNode } from 'react';
import type { Review } from '../api/shapes.js';
import { Difference } from '../parts/difference.tsx';
import { Amount, Card, Countdown, Fact, Facts, Id, Json, Outward, plain, Text, Time } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';
import { Seen } from './review.called.tsx';
import { releaseWords } from './review.rules.js';
import type { ReadReview } from './review.rules.js';

interface Props {
  readonly review: Review;
}

export function Done({ review }: Props): ReactNode {
  const { action, proposed_by: who, untrusted, resource, facts, forward } = review;
  const { objective } = untrusted;
  return (
    <Card title="What was done, and why">
      <Facts>
        <Fact name="Effect">{action.effect === null ? 'no contract says' : <Text>{action.effect}</Text>}</Fact>
        <Fact name="At stake">
          <Amount value={action.value} />
        </Fact>
        <Fact name="By">
          <Text>{who.agent_id}</Text>
          {who.initiator === null ? ', for nobody that is named' : ', for '}
          {who.initiator === null ? null : <Text>{who.initiator}</Text>}
        </Fact>
        <Fact name="To">
          {resource.subject_ref === null ? 'nothing that is named' : <Text>{resource.subject_ref}</Text>}
          {resource.external_ref === null ? null : (
            <>
              {' '}
              (<Text>{resource.external_ref}</Text>)
            </>
          )}
        </Fact>
        <Fact name="When">
          <Time at={facts.then.at} />, {codeWords(forward.state)}
        </Fact>
        <FoundOut of={forward.found_out} />
        <Release of={who.release} />
        <Fact name="Agreed before by">
          {action.agreed_by.length === 0 ? 'nobody was asked' : action.agreed_by.join(', ')}
        </Fact>
      </Facts>
      <h3>Arguments</h3>
      <Json value={action.args} />
      {objective === null ? null : (
        <blockquote>
          <small>In the agent’s own words, which are no fact:</small>
          <p>{typeof objective === 'string' ? <Text>{objective}</Text> : <Json value={objective} />}</p>
        </blockquote>
      )}
      <Seen observations={forward.found_out?.observations ?? []} />
      <CameOf decision={who.decision} />
      {plain(action.rehearsal) === null ? null : (
        <>
          <h3>Dry run said, and what was asked for</h3>
          <Difference then={action.rehearsal} now={action.args} names={['Rehearsed', 'Asked for']} />
        </>
      )}
    </Card>
  );
}

/** How the action itself ended, where somebody had to find out. */
function FoundOut({ of }: { readonly of: Review['forward']['found_out'] }): ReactNode {
  if (!of) return null;
  return (
    <Fact name="Found out">
      {codeWords(of.verdict)}, by <Text>{of.by ?? `a worker (${codeWords(of.how)})`}</Text> <Time at={of.found_at} />:{' '}
      {codeWords(of.reason)}
    </Fact>
  );
}

function Release({ of }: { readonly of: Review['proposed_by']['release'] }): ReactNode {
  if (!of) return null;
  return (
    <Fact name="Release">
      <Text>{releaseWords(of)}</Text>
    </Fact>
  );
}

/** What its agent decided it from. */
function CameOf({ decision }: { readonly decision: Review['proposed_by']['decision'] }): ReactNode {
  if (decision === undefined || decision === null) return null;
  return (
    <>
      <h3>The decision it came of</h3>
      {typeof decision === 'string' ? <Text>{decision}</Text> : <Json value={decision} />}
    </>
  );
}

export function FactsNow({ review }: Props): ReactNode {
  const { then, now, resource, changed, reaffirmed } = review.facts;
  return (
    <Card title="Facts, then and now">
      <div className="sides">
        <div>
          <h3>
            Then <Time at={then.at} />
          </h3>
          <ul>
            {then.refs.map((ref) => (
              <li key={ref}>
                <Text>{ref}</Text> held
              </li>
            ))}
          </ul>
          {then.refs.length === 0 ? <p>Nothing that it relied on is named.</p> : null}
        </div>
        <div>
          <h3>
            Now <Time at={now.stated_at} />
          </h3>
          <p>
            <b>
              <Text>{now.source}</Text>
            </b>{' '}
            says{now.ref === null ? '' : ' of '}
            {now.ref === null ? null : <Text>{now.ref}</Text>}:
          </p>
          <Json value={now.statement} />
        </div>
      </div>
      {resource.seen === null ? (
        <p className="quiet">Nobody has looked at the resource for this review yet.</p>
      ) : (
        <>
          <h3>
            The resource, seen by <code>{resource.seen.capability}</code> <Time at={resource.seen.observed_at} />
          </h3>
          {resource.before === null ? (
            <Json value={resource.seen.observed} />
          ) : (
            <Difference then={resource.before.observed} now={resource.seen.observed} names={['Before', 'Seen']} />
          )}
        </>
      )}
      {changed.length === 0 ? null : <p className="notice">Changed since somebody agreed: {changed.join(', ')}.</p>}
      {reaffirmed === null ? null : (
        <p className="notice">
          <Text>{reaffirmed.source}</Text> says <Time at={reaffirmed.stated_at} /> that it holds again.
        </p>
      )}
    </Card>
  );
}

export function Clock({ review }: { readonly review: ReadReview }): ReactNode {
  const { closes_at: closes, deadline_at: deadline } = review;
  return (
    <Card title="Time">
      <Facts>
        <Fact name="It can still be undone for">
          {closes === null ? 'no window is known' : <Countdown until={closes} over="no more: the window is closed" />}
        </Fact>
        <Fact name={ASKED_OF_PEOPLE.includes(review.phase) ? 'Somebody has to decide within' : 'It goes on within'}>
          {deadline === null ? 'no deadline' : <Countdown until={deadline} over="overdue" />}
        </Fact>
      </Facts>
    </Card>
  );
}

/** Phases in which the deadline is a person's; in the others it is a worker's, or a timer's. */
const ASKED_OF_PEOPLE: readonly string[] = ['awaiting_approval', 'manual', 'denied', 'halted'];

function Denied({ review: { denied } }: Props): ReactNode {
  if (!denied) return null;
  return (
    <p className="notice">
      Denied by{' '}
      <b>
        <Text>{denied.by}</Text>
      </b>
      {denied.at === undefined ? '' : ' '}
      {denied.at === undefined ? null : <Time at={denied.at} />}
      {denied.reason === undefined ? '.' : ': '}
      {denied.reason === undefined ? null : <Text>{denied.reason}</Text>}
    </p>
  );
}

export function Agreed({ review }: Props): ReactNode {
  const { given, required, why_two: whyTwo } = review.approvals;
  const open = Math.max(0, required - given.length);
  return (
    <Card title="Who agreed">
      <Denied review={review} />
      {given.length === 0 ? <p>Nobody yet.</p> : null}
      <ul>
        {given.map(({ by, at, reason }) => (
          <li key={by}>
            <b>
              <Text>{by}</Text>
            </b>{' '}
            <Time at={at} />: <Text>{reason}</Text>
          </li>
        ))}
      </ul>
      <p>
        {required === 0 ? 'Nobody has to.' : null}
        {required > 0 && open === 0 ? 'Nobody else has to.' : null}
        {open > 0
          ? `Still ${open} of ${required}: approvers who neither acted, nor stand to gain, nor wrote the contract.`
          : null}
      </p>
      {whyTwo === null ? null : <p>{whyTwo}</p>}
    </Card>
  );
}

export function Proof({ review }: Props): ReactNode {
  const { record, trace } = review.links;
  return (
    <Card title="Proof">
      <Facts>
        <Fact name="Decided in">
          <code>
            {record.log}/{record.partition}
          </code>
          {record.seq === null ? '' : ` at ${record.seq}`}
        </Fact>
        <Fact name="Record hash">{record.record_hash === null ? 'none yet' : <Id>{record.record_hash}</Id>}</Fact>
        <Fact name="Digest of the action">
          {review.action_digest === null ? 'nothing is proposed' : <Id>{review.action_digest}</Id>}
        </Fact>
        <Fact name="Trace">{trace.url === null ? <Id>{trace.trace_id}</Id> : <Outward to={trace.url} />}</Fact>
      </Facts>
    </Card>
  );
}
