import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { drained, type Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { explainAccess, explainCount } from '../store/explain.ts';
import { countMatches, countsKeys, newReadStats, prepareQuery, type Query } from '../store/read.ts';
import type { ReadStats } from '../store/scan.ts';

import { Arguments } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { findQuery, hintOf } from './find.ts';
import { VERSION } from './hello.ts';
import { pipelineSource } from './pipeline-source.ts';
import { inSlices } from './slices.ts';
import { updateStatement } from './update.ts';

const VERBOSITIES = ['queryPlanner', 'executionStats', 'allPlansExecution'];

/** Explains find, count, distinct, aggregate, update, delete and findAndModify. Explaining a write changes nothing. */
export const explain: Command = {
  options: ['verbosity'],
  run: (context) => {
    const command = context.args.document('explain');
    const verbosity = context.args.string('verbosity') ?? 'allPlansExecution';
    if (!command) throw new CommandError('TypeMismatch', "BSON field 'explain.explain' must be an object");
    if (!VERBOSITIES.includes(verbosity)) throw new CommandError('BadValue', `unknown verbosity '${verbosity}'`);
    const name = Object.keys(command)[0] ?? '';
    const args = new Arguments(name, command);
    const explaining = { ...queryOf({ ...context, args }, name), isCount: name === 'count' };
    const described = describe(context, args.collection(), explaining, verbosity !== 'queryPlanner');
    return inSlices(context, `${context.db}.${args.collection()}`, explained(context, command, described));
  },
};

function* explained({ server }: Context, command: Doc, described: Steps<Doc>): Steps<Doc> {
  return {
    explainVersion: '1',
    ...(yield* described),
    command,
    serverInfo: { host: server.host, version: VERSION },
    serverParameters: {},
  };
}

interface Explained {
  query: Query;
  /** The pipeline stages that are not part of the query. */
  rest: Doc[];
  projected: boolean;
}

function queryOf(context: Context, name: string): Explained {
  const { args } = context;
  const plain = (filter: Doc | undefined, sort: Doc | undefined, limit: number): Explained => ({
    query: {
      filter: filter ?? {},
      sort: sort ?? {},
      skip: 0,
      limit,
      hint: hintOf(args.body.hint),
      variables: args.variables(),
    },
    rest: [],
    projected: false,
  });
  switch (name) {
    case 'find':
      return { query: findQuery(context), rest: [], projected: args.isEnabled('projection') };
    case 'count':
    case 'distinct':
      return plain(args.document('query'), undefined, 0);
    case 'findAndModify':
    case 'findandmodify':
      return plain(args.document('query'), args.document('sort'), 1);
    case 'update': {
      const { query } = updateStatement(args.documents('updates')[0] ?? {}, args.variables());
      return { query, rest: [], projected: false };
    }
    case 'delete': {
      const statement = args.documents('deletes')[0] ?? {};
      const explained = plain(asDoc(statement.q), undefined, Number(statement.limit));
      return { ...explained, query: { ...explained.query, hint: hintOf(statement.hint) } };
    }
    case 'aggregate':
      return { ...pipelineSource(context, args.collection(), args.documents('pipeline')), projected: false };
    default:
      throw new CommandError('CommandNotFound', `Explain failed due to unknown command: ${name}`);
  }
}

function* describe(
  context: Context,
  name: string,
  { query, rest, projected, isCount }: Explained & { readonly isCount: boolean },
  executed: boolean,
): Steps<Doc> {
  const { store, db } = context;
  const collection = store.catalog.find(db, name);
  const stats: ReadStats = { ...newReadStats(), deadline: context.deadline };
  const started = performance.now();
  let returned = 0;
  let winningPlan: Doc = { stage: 'EOF' };
  if (collection) {
    const prepared = prepareQuery(store, collection, query);
    const isOfKeys = isCount && countsKeys(prepared.plan);
    winningPlan = isOfKeys ? explainCount(prepared.plan) : explainAccess(prepared.plan, query, projected);
    if (executed && isOfKeys) {
      returned = yield* countMatches(store, collection, query, context.deadline);
      stats.keys = returned;
    } else if (executed) {
      yield* drained(prepared.run(stats), () => {
        returned++;
      });
    }
  }
  const queryPlanner = {
    namespace: `${db}.${name}`,
    indexFilterSet: false,
    parsedQuery: query.filter,
    winningPlan,
    rejectedPlans: [],
  };
  const executionStats = {
    executionSuccess: true,
    nReturned: new Int32(returned),
    executionTimeMillis: new Int32(Math.round(performance.now() - started)),
    totalKeysExamined: new Int32(stats.keys),
    totalDocsExamined: new Int32(stats.docs),
    executionStages: { ...winningPlan, nReturned: new Int32(returned) },
  };
  const answer = { queryPlanner, ...(executed ? { executionStats } : {}) };
  return rest.length > 0 ? { stages: [{ $cursor: answer }, ...rest] } : answer;
}
