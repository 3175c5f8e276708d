import { buildSchema } from 'graphql';
import { expect, it } from 'vitest';
import { typescriptResults } from '../../../scripts/client-models/typescript-results.ts';

const schema = buildSchema(`
  "A draft."
  type Draft { "Prefix \`drf_\`." id: ID! version: Int! code: Code! status: Status problems: [Problem!]! }
  type Problem { message: String! param: String }
  enum Code { one two }
  enum Status { pending accepted }
  type Query { draft: Draft }
`);
const made = (selection: string) => typescriptResults(schema, { Draft: selection }, new Set(['Status']));

it('makes a type of what is read: fields as they are described, null where the schema has it', () => {
  expect(made('Draft { id version code status problems { message param } }')).toBe(
    `// Made from schema.graphql and selections.ts by \`npm run build\`. Amounts are integers in centimes.

import type { Status } from './models.ts';

/** A draft. */
export interface Draft {
  /** Prefix \`drf_\`. */
  readonly id: string;
  readonly version: number;
  readonly code: string;
  readonly status: Status | null;
  readonly problems: readonly {
    readonly message: string;
    readonly param: string | null;
  }[];
}
`,
  );
});

it('refuses what the schema does not have', () => {
  expect(() => made('Draft { name }')).toThrow('Draft has no field name');
  expect(() => made('Paper { id }')).toThrow('no type Paper');
});
