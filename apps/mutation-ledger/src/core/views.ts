// Views the mutations log reads: which refs hold, and which commits fell.
import type { AcceptedRecord, ViewSpec } from '@recourse/event-log';
import { announcedIn, bodyIn, recordIn } from '@recourse/messages';
import { fallenEntry } from '../rules/mutation/lineage.decider.js';
import { verdictEntry } from '../rules/mutation/refs.decider.js';

const ASSUMPTIONS = 'recourse.assumptions';
/** Derived from the mutations log, and read again by every partition of it: the fall of a commit is news to those derived from it. */
export const NOTICES = 'recourse.rollback-notifications';

/** View of the assumptions log: the verdict that stands per ref and scope. */
export const assumptionView: ViewSpec = {
  name: 'assumptions',
  topic: ASSUMPTIONS,
  fold: (record: AcceptedRecord) => {
    if (record.type !== 'AssumptionStated') return [];
    const entry = verdictEntry(bodyIn(ASSUMPTIONS, 'AssumptionStated', record), record.seq);
    return entry === null ? [] : [entry];
  },
};

/** View of the log derived from this one: the commits that fell, each with the place of its announcement. */
export const fallenView: ViewSpec = {
  name: 'fallen',
  topic: NOTICES,
  fold: (record: AcceptedRecord) => {
    const { type, body } = recordIn(NOTICES, record);
    const fallen = type === 'RollbackAnnounced' ? announcedIn(body) : type === 'BoundReached' ? [body] : [];
    return fallen.map((one) => fallenEntry(one, record.seq));
  },
};
