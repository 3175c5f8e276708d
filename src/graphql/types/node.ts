import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { serviceError } from '../../domain/errors.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';

/** A type that the query `node` can find. */
export interface NodeKind {
  /** Prefix of its ids, without the underscore. */
  readonly prefix: string;
  /** Name of the type in the schema. */
  readonly type: string;
  /** Finds an object like the query of its type. @throws {ServiceError} the same errors as that query */
  readonly find: (id: string, clientSecret: string | null, context: GraphQLContext) => Promise<{ readonly id: string }>;
}

const KINDS = new Map<string, NodeKind>();

/** Registers a type with `node`. Called in the file of the type, next to its query. */
export function findableAsNode(kind: NodeKind): void {
  KINDS.set(kind.prefix, kind);
}

function kindOf(id: string): NodeKind | undefined {
  return KINDS.get(id.slice(0, Math.max(0, id.indexOf('_'))));
}

export const NodeInterface = builder.interfaceRef<{ readonly id: string }>('Node').implement({
  description: 'An object with a unique id, by which `node` finds it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique id; its prefix identifies the type.' }),
  }),
  resolveType: ({ id }) => kindOf(id)?.type,
});

builder.queryField('node', (t) =>
  t.field({
    type: NodeInterface,
    nullable: true,
    description: 'The object with this id. Access is that of the query of its type.',
    args: {
      id: t.arg.id({ required: true, description: 'The id with its prefix: `inv_`, `we_`, `evt_`, …' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of the invoice.' }),
    },
    resolve: async (_root, { id, clientSecret }, context) => {
      const kind = kindOf(id);
      await context.meter?.hold(INVOICE_BYTES);
      if (kind) return kind.find(id, clientSecret ?? null, context);
      throw serviceError('resource_not_found', `There is no object with the id '${id.slice(0, 80)}'.`, 'id');
    },
  }),
);
