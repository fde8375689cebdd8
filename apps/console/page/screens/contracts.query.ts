// All versions of a contract that somebody may read: their own, and the platform's.
import { contracts } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';

/** All versions that somebody may read: which of them stand, only all of them tell. */
export const catalogueQuery = rowsQuery('contracts', ['contracts'], (more) =>
  contracts.GET('/v1/contracts', { params: { query: { limit: 500, ...more } } }),
);

export const versionsQuery = (name: string) =>
  rowsQuery('contracts', ['contracts', name], (more) =>
    contracts.GET('/v1/contracts', { params: { query: { name, limit: 500, ...more } } }),
  );
