// Who takes part in the story.
import type { Person } from './desk.js';

/** On whose behalf the agent acts; may approve for others, never for herself. */
export const INITIATOR: Person = { subject: 'asha', roles: ['approver'] };
/** The example's operator. */
export const OPERATOR: Person = { subject: 'mira', roles: ['approver', 'operator', 'payload_reader'] };
export const CONTRACT_EDITOR: Person = { subject: 'ravi', roles: ['contract_editor'] };
export const BUDGET_OWNER: Person = { subject: 'leela', roles: ['budget_owner'] };
