import { calculateObjectSize } from 'bson';
import { isOperatorDoc } from './filter-parse.ts';
import { compileFilter } from './match.ts';
import { splitPath, walkPath } from './path.ts';
import { type Doc, isTruthy, RANK, typeName, typeRank } from './types.ts';

/** Maximum number of values that an explanation shows, as in MongoDB. */
const MOST_VALUES = 10;
/** Bytes of values that an explanation shows; the others are left out. */
const MOST_BYTES = 1024 * 1024;

/** What MongoDB says about an operator of a field. */
const REASONS: Readonly<Record<string, string>> = {
  $eq: 'comparison failed',
  $gt: 'comparison failed',
  $gte: 'comparison failed',
  $lt: 'comparison failed',
  $lte: 'comparison failed',
  $ne: 'comparison succeeded',
  $in: 'no matching value found in array',
  $nin: 'matching value found in array',
  $not: 'child expression matched',
  $type: 'type did not match',
  $regex: 'regular expression did not match',
  $mod: '$mod did not evaluate to expected remainder',
  $size: 'array length was not equal to given size',
  $all: 'array did not contain all specified values',
  $elemMatch: 'array did not satisfy the child predicate',
};
const OTHER_REASON = 'expression did not match';
/** Operators that a missing field satisfies. */
const NEGATIONS = ['$ne', '$nin', '$not', '$exists'];

/** One condition of a filter. */
interface Condition {
  readonly operatorName: string;
  /** A filter with this condition alone. */
  readonly specifiedAs: Doc;
  /** The path of a condition on a field. */
  readonly path: string | null;
}

/**
 * Says which conditions of a filter a document does not meet, as `errInfo.details` of a failed validation: a condition
 * alone, or `$and` with those of several that are not met. Only for a document that does not match.
 */
export function unmetConditions(filter: Doc, doc: Doc): Doc {
  return unmet(filter, doc, { bytes: MOST_BYTES });
}

/** What may still be shown. */
interface Left {
  bytes: number;
}

function unmet(filter: Doc, doc: Doc, left: Left): Doc {
  const conditions = conditionsOf(filter);
  const [only] = conditions;
  if (only && conditions.length === 1) return explained(only, doc, left);
  return { operatorName: '$and', clausesNotSatisfied: clauses(conditions, doc, (each) => explained(each, doc, left)) };
}

function conditionsOf(filter: Doc): Condition[] {
  return Object.entries(filter).flatMap(([name, value]): Condition[] => {
    if (name === '$comment') return [];
    if (name.startsWith('$')) return [{ operatorName: name, specifiedAs: { [name]: value }, path: null }];
    if (!isOperatorDoc(value)) {
      const operatorName = typeRank(value) === RANK.regex ? '$regex' : '$eq';
      return [{ operatorName, specifiedAs: { [name]: value }, path: name }];
    }
    return Object.keys(value)
      .filter((operator) => operator !== '$options')
      .map((operator) => {
        const options = operator === '$regex' && '$options' in value ? { $options: value.$options } : {};
        return {
          operatorName: operator,
          specifiedAs: { [name]: { [operator]: value[operator], ...options } },
          path: name,
        };
      });
  });
}

/** The conditions that the document does not meet, by their places. */
function clauses(conditions: readonly Condition[], doc: Doc, details: (condition: Condition) => Doc): Doc[] {
  return conditions.flatMap((condition, index) =>
    compileFilter(condition.specifiedAs)(doc) ? [] : [{ index, details: details(condition) }],
  );
}

function explained(condition: Condition, doc: Doc, left: Left): Doc {
  const { operatorName, specifiedAs, path } = condition;
  if (path !== null) return { operatorName, specifiedAs, ...explainedField(condition, path, doc, left) };
  if (operatorName === '$expr')
    return { operatorName, specifiedAs, reason: 'expression did not match', expressionResult: false };
  const branches = specifiedAs[operatorName];
  if (!Array.isArray(branches)) return { operatorName, specifiedAs, reason: OTHER_REASON };
  const numbered = (branches as Doc[]).map((branch, index) => ({ branch, index }));
  const meets = ({ branch }: { branch: Doc }) => compileFilter(branch)(doc);
  if (operatorName === '$nor')
    return {
      operatorName,
      clausesSatisfied: numbered
        .filter(meets)
        .map(({ branch, index }) => ({ index, details: { specifiedAs: branch, reason: 'expression matched' } })),
    };
  return {
    operatorName,
    clausesNotSatisfied: numbered
      .filter((each) => !meets(each))
      .map(({ branch, index }) => ({ index, details: unmet(branch, doc, left) })),
  };
}

function explainedField({ operatorName, specifiedAs }: Condition, path: string, doc: Doc, left: Left): Doc {
  const values: unknown[] = [];
  walkPath(doc, splitPath(path), true, (value) => {
    if (value !== undefined) values.push(value);
    return values.length > MOST_VALUES;
  });
  if (operatorName === '$exists') {
    const isWanted = isTruthy((specifiedAs[path] as Doc).$exists);
    return { reason: isWanted ? 'path does not exist' : 'path does exist' };
  }
  if (values.length === 0 && !NEGATIONS.includes(operatorName)) return { reason: 'field was missing' };
  const shown = values.slice(0, MOST_VALUES);
  if (left.bytes > 0) left.bytes -= calculateObjectSize(shown);
  if (left.bytes <= 0) return { reason: REASONS[operatorName] ?? OTHER_REASON, consideredValuesTruncated: true };
  return {
    reason: REASONS[operatorName] ?? OTHER_REASON,
    ...(shown.length === 1 ? { consideredValue: shown[0] } : { consideredValues: shown }),
    ...(values.length > MOST_VALUES ? { consideredValuesTruncated: true } : {}),
    ...(operatorName === '$type' && shown.length === 1 ? { consideredType: typeName(shown[0]) } : {}),
  };
}
