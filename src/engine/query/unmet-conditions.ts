import { calculateObjectSize } from 'bson';
import { CommandError } from '../errors.ts';
import { isOperatorDoc } from './filter-parse.ts';
import { compileFilter, type Matcher } from './match.ts';
import { splitPath, walkPath } from './path.ts';
import { type Doc, isTruthy, RANK, typeName, typeRank } from './types.ts';

/** Maximum number of values that are shown for a condition, as in MongoDB. */
const MOST_VALUES = 10;
/** Maximum number of conditions in an explanation. */
const MOST_CONDITIONS = 20;
/** Maximum bytes of the conditions in an explanation, with their values. */
const MOST_BYTES = 16 * 1024;
/** Maximum levels of `$and`, `$or` and `$nor` in an explanation. */
const MOST_LEVELS = 10;

/** The reasons that MongoDB states, by the operator of a field. */
const REASONS: Readonly<Record<string, string>> = {
  $eq: 'comparison failed',
  $gt: 'comparison failed',
  $gte: 'comparison failed',
  $lt: 'comparison failed',
  $lte: 'comparison failed',
  $ne: 'comparison succeeded',
  $in: 'no matching value found in array',
  $nin: 'matching value found in array',
  $type: 'type did not match',
  $regex: 'regular expression did not match',
  $mod: '$mod did not evaluate to expected remainder',
  $size: 'array length was not equal to given size',
  $all: 'array did not contain all specified values',
  $elemMatch: 'array did not satisfy the child predicate',
  $bitsAllSet: 'bitwise operator failed to match',
  $bitsAllClear: 'bitwise operator failed to match',
  $bitsAnySet: 'bitwise operator failed to match',
  $bitsAnyClear: 'bitwise operator failed to match',
};
const OTHER_REASON = 'expression did not match';
/** Operators that test an array as a whole. */
const OF_ARRAYS = ['$size', '$all', '$elemMatch'];

interface Condition {
  readonly operatorName: string;
  /** A filter with this condition alone. */
  readonly specifiedAs: Doc;
  /** The path of a condition on a field. */
  readonly path: string | null;
  readonly matches: Matcher;
  /** The filters of `$and`, `$or` and `$nor`, each with its conditions. */
  readonly branches: readonly { readonly filter: Doc; readonly matches: Matcher; readonly conditions: Condition[] }[];
}

/** The number of conditions and bytes that an explanation may still use. */
interface Left {
  conditions: number;
  bytes: number;
}

/**
 * The reasons why a document does not match, as `errInfo.details` of a failed validation, and whether the limits left
 * out some of them.
 */
export interface Explanation {
  readonly details: Doc;
  readonly isTruncated: boolean;
}

/**
 * Compiles a filter to a function that explains why a document does not match. If there are several conditions, it
 * shows an `$and` with the unmet ones. The size is limited for any filter and document. Call it only for documents that
 * do not match.
 */
export function compileExplanation(filter: Doc): (doc: Doc) => Explanation {
  const conditions = conditionsOf(filter);
  return (doc) => {
    const left: Left = { conditions: MOST_CONDITIONS, bytes: MOST_BYTES };
    const details = unmet(conditions, doc, left, 0);
    return { details, isTruncated: left.conditions <= 0 || left.bytes <= 0 };
  };
}

function conditionsOf(filter: Doc): Condition[] {
  return Object.entries(filter).flatMap(([name, value]): Condition[] => {
    if (name === '$comment') return [];
    if (name.startsWith('$')) return [condition(name, { [name]: value }, null)];
    if (!isOperatorDoc(value))
      return [condition(typeRank(value) === RANK.regex ? '$regex' : '$eq', { [name]: value }, name)];
    return Object.keys(value)
      .filter((operator) => operator !== '$options')
      .map((operator) => {
        const options = operator === '$regex' && '$options' in value ? { $options: value.$options } : {};
        return condition(operator, { [name]: { [operator]: value[operator], ...options } }, name);
      });
  });
}

function condition(operatorName: string, specifiedAs: Doc, path: string | null): Condition {
  const filters = path === null && Array.isArray(specifiedAs[operatorName]) ? (specifiedAs[operatorName] as Doc[]) : [];
  return {
    operatorName,
    specifiedAs,
    path,
    matches: compileFilter(specifiedAs),
    branches: filters.map((filter) => ({
      filter,
      matches: compileFilter(filter),
      conditions: conditionsOf(filter),
    })),
  };
}

function unmet(conditions: readonly Condition[], doc: Doc, left: Left, level: number): Doc {
  const [only] = conditions;
  if (only && conditions.length === 1) return explained(only, doc, left, level);
  const isUnmet = ({ matches }: Condition) => !meets(matches, doc);
  return {
    operatorName: '$and',
    clausesNotSatisfied: listed(conditions, left, isUnmet, (each) => explained(each, doc, left, level + 1)),
  };
}

/** Whether the document matches. A document for which an expression fails does not match. */
export function meets(matches: Matcher, doc: Doc): boolean {
  try {
    return matches(doc);
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** Lists the details of the chosen entries with their indexes in `all`, until a limit is reached. */
function listed<T>(all: readonly T[], left: Left, isChosen: (each: T) => boolean, details: (each: T) => Doc): Doc[] {
  const list: Doc[] = [];
  for (const [index, each] of all.entries()) {
    if (left.conditions <= 0 || left.bytes <= 0) break;
    if (isChosen(each)) list.push({ index, details: details(each) });
  }
  return list;
}

function explained(each: Condition, doc: Doc, left: Left, level: number): Doc {
  const { operatorName, specifiedAs, path, branches } = each;
  left.conditions--;
  if (branches.length > 0) {
    if (level >= MOST_LEVELS) left.conditions = 0;
    if (operatorName === '$nor') {
      const isMet = ({ matches }: { matches: Matcher }) => meets(matches, doc);
      return { operatorName, clausesSatisfied: listed(branches, left, isMet, ({ filter }) => specified(filter, left)) };
    }
    const isUnmet = ({ matches }: { matches: Matcher }) => !meets(matches, doc);
    const details = ({ conditions }: { conditions: Condition[] }) => unmet(conditions, doc, left, level + 1);
    return { operatorName, clausesNotSatisfied: listed(branches, left, isUnmet, details) };
  }
  return {
    operatorName,
    ...specified(specifiedAs, left),
    ...(path === null ? { reason: failureOf(each, doc) ?? OTHER_REASON } : explainedField(each, path, doc, left)),
  };
}

function specified(specifiedAs: Doc, left: Left): Doc {
  return fits({ specifiedAs }, left) ? { specifiedAs } : {};
}

/** Subtracts the size of a part from the bytes left. Returns false when none are left. */
function fits(part: Doc, left: Left): boolean {
  if (left.bytes > 0) left.bytes -= calculateObjectSize(part);
  return left.bytes > 0;
}

/** The reason that evaluating the condition failed; null if it did not fail. */
function failureOf({ matches }: Condition, doc: Doc): string | null {
  try {
    matches(doc);
    return null;
  } catch {
    return 'failed to evaluate aggregation expression';
  }
}

function explainedField({ operatorName, specifiedAs }: Condition, path: string, doc: Doc, left: Left): Doc {
  const ends: unknown[] = [];
  walkPath(doc, splitPath(path), false, (value) => {
    if (value !== undefined) ends.push(value);
    return ends.length > MOST_VALUES;
  });
  if (operatorName === '$exists') {
    const isWanted = isTruthy((specifiedAs[path] as Doc).$exists);
    return { reason: isWanted ? 'path does not exist' : 'path does exist' };
  }
  if (ends.length === 0) return { reason: 'field was missing' };
  const values = OF_ARRAYS.includes(operatorName) ? ends : ends.flat();
  const shown = values.slice(0, MOST_VALUES);
  const considered = {
    ...(shown.length === 1 ? { consideredValue: shown[0] } : { consideredValues: shown }),
    ...(values.length > MOST_VALUES ? { consideredValuesTruncated: true } : {}),
    ...(operatorName === '$type' && shown.length === 1 ? { consideredType: typeName(shown[0]) } : {}),
    ...(operatorName === '$type' && shown.length > 1 ? { consideredTypes: shown.map(typeName) } : {}),
  };
  return { reason: REASONS[operatorName] ?? OTHER_REASON, ...(fits(considered, left) ? considered : {}) };
}
