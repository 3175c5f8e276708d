import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../../src/engine/errors.ts';
import { runPipeline } from '../../../src/engine/query/aggregate.ts';
import { analyzeBranches, analyzeFilter, compileFilter, impliesFilter } from '../../../src/engine/query/match.ts';
import { compileProjection } from '../../../src/engine/query/projection.ts';
import { compileSort } from '../../../src/engine/query/sort.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import { compileUpdate, upsertBase } from '../../../src/engine/query/update.ts';
import { sampled } from '../../support/samples.ts';
import { doc, value } from './arbitraries.ts';

const FILTERS =
  '$eq $ne $gt $gte $lt $lte $in $nin $not $exists $type $regex $options $mod $size $all $elemMatch $bitsAllSet $bitsAllClear $bitsAnySet $bitsAnyClear $and $or $nor $expr $comment $where $text $jsonSchema $foo';
const UPDATES =
  '$set $unset $inc $mul $min $max $rename $setOnInsert $currentDate $push $addToSet $pop $pull $pullAll $bit $foo';
const CLAUSES = '$each $position $slice $sort $type and or xor';
const STAGES =
  '$match $project $addFields $set $unset $group $sort $limit $skip $count $unwind $replaceRoot $replaceWith $facet $lookup $unionWith $sortByCount $bucket $out $foo';
const EXPRESSIONS =
  '$add $subtract $multiply $divide $mod $abs $ceil $floor $round $trunc $sqrt $exp $ln $log10 $eq $ne $gt $cmp $and $or $not $ifNull $cond $switch $literal $let $concat $toLower $toUpper $strLenCP $substrCP $split $regexMatch $isArray $size $arrayElemAt $first $last $in $concatArrays $slice $range $map $filter $reduce $setUnion $mergeObjects $objectToArray $arrayToObject $getField $setField $unsetField $type $isNumber $toInt $toLong $toDouble $toDecimal $toString $toBool $toDate $toObjectId $convert $year $month $dayOfWeek $dateToString $dateTrunc $sum $avg $min $max $push $addToSet $mergeObjects $stdDevPop $foo';
const FIELDS =
  'a b a.b a.0 a.$ a.$[] a.$[x] a. .b $a _id input in as cond if then else vars case branches default date format timezone unit field value find replacement regex chars to onError path preserveNullAndEmptyArrays includeArrayIndex newRoot from localField foreignField pipeline groupBy boundaries output sortBy initialValue limit let coll __proto__ constructor';
const TEXTS = ['$a', '$a.b', '$$ROOT', '$$this', '$$foo', '$', '$$', '$a.', '%Y-%q', 'UTC', 'Mars', 'day', '^(', 'int'];

/** Documents of operators and their fields with operands of any type, mostly invalid. */
const nonsense = (words: string): fc.Arbitrary<unknown> =>
  fc.letrec<{ any: unknown; doc: Doc; list: unknown[]; leaf: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 3, arbitrary: tie('leaf') },
      { weight: 5, arbitrary: tie('doc') },
      tie('list'),
    ),
    leaf: fc.oneof(value, fc.constantFrom(...TEXTS), fc.integer({ min: -2, max: 3 })),
    doc: fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom(...words.split(' ')), tie('any'))
          .map(([name, inner]) => ({ [name]: inner })),
      },
      fc.dictionary(fc.constantFrom(...FIELDS.split(' '), ...words.split(' ')), tie('any'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
    list: fc.array(tie('any'), { maxLength: 4 }),
  })).any;

/** Runs `action` and returns whether it succeeded. Any exception must be a CommandError. */
function tried(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    expect(error.message).not.toBe('');
    return false;
  }
}

const isDoc = (made: unknown): made is Doc => Object.getPrototypeOf(made ?? 0) === Object.prototype;
const runs = { numRuns: sampled(6000) };

describe('random input only causes errors that are reported to the client', () => {
  it('in filters', () => {
    let well = 0;
    const named = fc
      .tuple(fc.constantFrom(...FIELDS.split(' ')), nonsense(FILTERS))
      .map(([name, test]) => ({ [name]: test }));
    fc.assert(
      fc.property(fc.oneof(named, nonsense(FILTERS).filter(isDoc)), doc, (filter, document) => {
        const accepted = tried(() => compileFilter(filter));
        if (!accepted) return;
        well += 1;
        tried(() => compileFilter(filter)(document, {}));
        analyzeFilter(filter);
        analyzeBranches(filter);
        expect(impliesFilter(filter, filter) || JSON.stringify(filter).includes('$')).toBe(true);
        tried(() => upsertBase(filter));
      }),
      runs,
    );
    expect(well).toBeGreaterThan(sampled(500));
  });

  it('in updates', () => {
    let well = 0;
    const operands = fc.dictionary(fc.constantFrom(...FIELDS.split(' ')), nonsense(CLAUSES), {
      maxKeys: 2,
      noNullPrototype: true,
    });
    const updates = fc
      .tuple(fc.constantFrom(...UPDATES.split(' ')), operands)
      .map(([operator, fields]) => ({ [operator]: fields }));
    const any = fc.oneof({ weight: 4, arbitrary: updates }, nonsense(UPDATES).filter(isDoc));
    fc.assert(
      fc.property(any, doc, fc.boolean(), (update, document, insert) => {
        if (tried(() => compileUpdate(update, { arrayFilters: [] })(document, { insert, positional: 0 }))) well += 1;
      }),
      runs,
    );
    expect(well).toBeGreaterThan(sampled(500));
  });

  it('in projections and sorts', () => {
    let well = 0;
    fc.assert(
      fc.property(nonsense(EXPRESSIONS).filter(isDoc), doc, (spec, document) => {
        if (tried(() => compileProjection(spec, { filter: { a: 1 } })(document))) well += 1;
        tried(() => [document, { ...document }].sort(compileSort(spec)));
      }),
      runs,
    );
    expect(well).toBeGreaterThan(sampled(200));
  });

  it('in expressions', () => {
    let well = 0;
    fc.assert(
      fc.property(nonsense(EXPRESSIONS), doc, (expression, document) => {
        const stages = [{ $replaceWith: { result: expression } }];
        if (tried(() => [...runPipeline(stages, [document], { lookup: () => [] })])) well += 1;
      }),
      { numRuns: sampled(8000) },
    );
    expect(well).toBeGreaterThan(sampled(800));
  });

  it('in stages and accumulators', () => {
    let well = 0;
    const groups = fc
      .tuple(nonsense(EXPRESSIONS), nonsense(EXPRESSIONS))
      .map(([_id, accumulator]) => ({ $group: { _id, a: accumulator } }));
    const stages = fc
      .tuple(fc.constantFrom(...STAGES.split(' ')), nonsense(EXPRESSIONS))
      .map(([name, operand]) => ({ [name]: operand }));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(groups, stages), { maxLength: 3 }),
        fc.array(doc, { maxLength: 3 }),
        (pipeline, documents) => {
          const env = { lookup: (_: string, filter: Doc) => documents.filter((each) => compileFilter(filter)(each)) };
          if (tried(() => [...runPipeline(pipeline, documents, env)])) well += 1;
          tried(() => compileUpdate(pipeline)(documents[0] ?? {}, { insert: false }));
        },
      ),
      runs,
    );
    expect(well).toBeGreaterThan(sampled(300));
  });
});
