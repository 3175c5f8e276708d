import { Binary } from 'bson';
import { CommandError } from '../errors.ts';
import { compileExpression, environmentOf } from '../query/expression.ts';
import { asDoc, type Doc, isDoc } from '../query/types.ts';
import { collectionStatistics, existingCollection } from './collections.ts';
import type { Context } from './command.ts';
import { searchNotEnabled } from './search-indexes.ts';

type Source = (context: Context, operand: unknown) => Iterable<Doc>;

/** Stages that start a pipeline and generate their own documents. */
const ON_COLLECTION: Readonly<Record<string, Source>> = {
  $collStats: (context, operand) => [collStatsOf(context, asDoc(operand) ?? {})],
  $listSearchIndexes: () => {
    throw searchNotEnabled();
  },
};
const ON_DATABASE: Readonly<Record<string, Source>> = {
  $documents: (context, operand) => literalDocuments(context, operand),
  $listLocalSessions: (context) => sessions(context),
  $currentOp: () => [],
};

/**
 * Returns the documents of the pipeline's first stage, if it generates its own. Error 73 if it does not and the
 * pipeline has no collection.
 */
export function sourceDocuments(context: Context, first: Doc | undefined): Iterable<Doc> | undefined {
  const stage = Object.keys(first ?? {})[0] ?? '';
  const onCollection = typeof context.args.body.aggregate === 'string';
  const here = onCollection ? ON_COLLECTION : ON_DATABASE;
  const elsewhere = onCollection ? ON_DATABASE : ON_COLLECTION;
  const source = Object.hasOwn(here, stage) ? here[stage] : undefined;
  if (source && context.snapshot) {
    const level = "which may not be used with readConcern level 'snapshot'";
    throw new CommandError('InvalidOptions', `The aggregation stage ${stage} does not read documents, ${level}`);
  }
  if (source) return source(context, first?.[stage]);
  if (Object.hasOwn(elsewhere, stage) || !onCollection) {
    throw new CommandError(
      'InvalidNamespace',
      onCollection
        ? `${stage} is only valid as the first stage in a pipeline on a database: {aggregate: 1}`
        : `{aggregate: 1} is not valid for '${stage}'; a collection is required.`,
    );
  }
  return undefined;
}

function literalDocuments({ args }: Context, operand: unknown): Doc[] {
  const variables = args.variables();
  const value = compileExpression(operand, Object.keys(variables))(environmentOf({}, new Date(), variables));
  if (Array.isArray(value) && value.every(isDoc)) return value;
  throw new CommandError(5858203, 'an array of documents is expected as the argument of $documents');
}

/** Lists the command's session and the sessions with an open transaction. The engine does not track others. */
function sessions({ session, store }: Context): Doc[] {
  const ids = new Set([...(session ? [session] : []), ...store.transactions.sessions()]);
  return Array.from(ids, (id) => ({ _id: { id: new Binary(Buffer.from(id, 'hex'), 4) }, lastUse: new Date() }));
}

function collStatsOf(context: Context, operand: Doc): Doc {
  const { server, args, db } = context;
  const collection = existingCollection(context);
  const stats = collectionStatistics(context, collection, Number(asDoc(operand.storageStats)?.scale ?? 1));
  return {
    ns: `${db}.${args.collection()}`,
    host: server.host,
    localTime: new Date(),
    ...(operand.storageStats ? { storageStats: stats } : {}),
    ...(operand.count ? { count: stats.count } : {}),
  };
}
