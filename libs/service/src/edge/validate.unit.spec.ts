// The schemas of the OpenAPI documents, which programs are generated from.
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openApiSchema } from './validate.js';

describe('the schema of an input', () => {
  it('refers to nothing: its definitions have no place in a document of many', () => {
    const text = JSON.stringify(openApiSchema(z.strictObject({ evidence: z.json(), reason: z.string() })));
    expect(text).not.toContain('$ref');
    expect(text).not.toContain('$defs');
    expect(openApiSchema(z.strictObject({ evidence: z.json() }))).toMatchObject({ properties: { evidence: {} } });
  });
});
