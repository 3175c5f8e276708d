import { Int32 } from 'bson';
import type { Doc } from '../query/types.ts';
import type { IndexScan } from './bounds.ts';
import type { Plan } from './planner.ts';
import type { Query } from './read.ts';

/** Describes a plan whose keys are counted. */
export function explainCount({ access }: Plan): Doc {
  const scan = access.kind === 'IXSCAN' ? { ...indexStage(access), stage: 'COUNT_SCAN' } : {};
  return { stage: 'COUNT', inputStage: scan };
}

/** Describes a plan as a tree of MongoDB's stages. */
export function explainAccess({ access, sorted }: Plan, query: Query, projected: boolean): Doc {
  const { filter, sort, skip, limit } = query;
  const checked = Object.keys(filter).length > 0 ? { filter } : {};
  let stage: Doc;
  if (access.kind === 'COLLSCAN')
    stage = { stage: 'COLLSCAN', ...checked, direction: access.reverse ? 'backward' : 'forward' };
  else if (access.kind === 'IXSCAN') stage = { stage: 'FETCH', ...checked, inputStage: indexStage(access) };
  else
    stage = { stage: 'FETCH', ...checked, inputStage: { stage: 'OR', inputStages: access.branches.map(indexStage) } };
  if (!sorted) {
    stage = {
      stage: 'SORT',
      sortPattern: sort,
      ...(limit > 0 ? { limitAmount: new Int32(skip + limit) } : {}),
      inputStage: stage,
    };
  }
  if (skip > 0) stage = { stage: 'SKIP', skipAmount: new Int32(skip), inputStage: stage };
  if (limit > 0 && sorted) stage = { stage: 'LIMIT', limitAmount: new Int32(limit), inputStage: stage };
  return projected ? { stage: 'PROJECTION_DEFAULT', inputStage: stage } : stage;
}

function indexStage({ index, bounds, reverse }: IndexScan): Doc {
  return {
    stage: 'IXSCAN',
    keyPattern: index.spec.key,
    indexName: index.name,
    isMultiKey: index.multikey,
    isUnique: index.unique,
    isSparse: index.sparse,
    isPartial: index.partial !== undefined,
    direction: reverse ? 'backward' : 'forward',
    indexBounds: bounds.shown(),
  };
}
