import { GraphQLError, type ValidationRule } from 'graphql';

/** The most fields that a document may ask of Query, Mutation or Subscription, aliases counted. */
export const MAX_ROOT_FIELDS = 10;

/** Keeps one request, which counts once for the rate limit, from doing the work of thousands by aliases. */
export const maxRootFields: ValidationRule = (context) => {
  const schema = context.getSchema();
  const roots: unknown[] = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  let count = 0;
  return {
    Field(node) {
      if (!roots.includes(context.getParentType())) return;
      count += 1;
      if (count === MAX_ROOT_FIELDS + 1) {
        context.reportError(
          new GraphQLError(`A document may have at most ${MAX_ROOT_FIELDS} fields at its root.`, { nodes: node }),
        );
      }
    },
  };
};
