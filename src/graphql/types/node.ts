import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { serviceError } from '../../domain/errors.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';

/** A type whose objects `node` finds. */
export interface NodeKind {
  /** What its ids begin with, without the underscore. */
  readonly prefix: string;
  /** Its name in the schema. */
  readonly type: string;
  /** As the query of that noun finds it. @throws {ServiceError} as that one */
  readonly find: (id: string, clientSecret: string | null, context: GraphQLContext) => Promise<{ readonly id: string }>;
}

const KINDS = new Map<string, NodeKind>();

/** Lets `node` find a type; its own file calls this, beside the query of the noun. */
export function findableAsNode(kind: NodeKind): void {
  KINDS.set(kind.prefix, kind);
}

function kindOf(id: string): NodeKind | undefined {
  return KINDS.get(id.slice(0, Math.max(0, id.indexOf('_'))));
}

export const NodeInterface = builder.interfaceRef<{ readonly id: string }>('Node').implement({
  description: 'What has an id of its own, which `node` finds it by.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique; its prefix tells the type.' }),
  }),
  resolveType: ({ id }) => kindOf(id)?.type,
});

builder.queryField('node', (t) =>
  t.field({
    type: NodeInterface,
    nullable: true,
    extensions: { reads: INVOICE_BYTES },
    description: 'Whatever has this id, for whom the query of its type would answer it.',
    args: {
      id: t.arg.id({ required: true, description: 'With its prefix: `inv_`, `we_`, `evt_`, …' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of the invoice.' }),
    },
    resolve: (_root, { id, clientSecret }, context) => {
      const kind = kindOf(id);
      if (kind) return kind.find(id, clientSecret ?? null, context);
      throw serviceError('resource_not_found', `There is nothing with the id '${id.slice(0, 80)}'.`, 'id');
    },
  }),
);
