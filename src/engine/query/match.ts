import { compileExpression, environmentOf } from './expression.ts';
import { type Leaf, type Node, parseFilter } from './filter-parse.ts';
import { leafTest, type Test } from './filter-tests.ts';
import { splitPath, walkPath } from './path.ts';
import { asDoc, type Doc, getField, isTruthy, RANK, typeRank } from './types.ts';

export { analyzeBranches, analyzeFilter, type Bound, boundIntervals, type Interval } from './analyze.ts';
export { impliesFilter } from './filter-implies.ts';

/** Details of a match for the positional operator `$`: the index of the matched element in the outermost array. */
export interface MatchDetails {
  index?: number | undefined;
}

/** A compiled filter. Sets `details` if given. */
export type Matcher = (doc: Doc, details?: MatchDetails) => boolean;

/**
 * Compiles a query filter to a function of a document. `variables` are available to `$expr` in addition to the system
 * variables.
 * @throws CommandError (BadValue and others) for unknown or invalid operators.
 */
export function compileFilter(filter: Doc, variables: Doc = {}): Matcher {
  return compileNode(parseFilter(filter), variables);
}

/**
 * The array index that the positional operator `$` stands for in a matching document; undefined if the filter matched
 * no array element.
 */
export function matchedArrayIndex(filter: Doc | Matcher, doc: Doc): number | undefined {
  const details: MatchDetails = {};
  const matcher = typeof filter === 'function' ? filter : compileFilter(filter);
  return matcher(doc, details) ? details.index : undefined;
}

/** Compiles a parsed filter. */
export function compileNode(node: Node, variables: Doc = {}): Matcher {
  switch (node.kind) {
    case 'and': {
      const children = node.children.map((child) => compileNode(child, variables));
      return (doc, details) => {
        for (const child of children) if (!child(doc, details)) return false;
        return true;
      };
    }
    case 'or': {
      const children = node.children.map((child) => compileNode(child, variables));
      const tells = tellsPosition(node.children);
      return (doc, details) => {
        for (const child of children) if (child(doc, tells ? details : undefined)) return true;
        return false;
      };
    }
    case 'not': {
      const child = compileNode(node.child, variables);
      return (doc) => !child(doc);
    }
    case 'never':
      return () => false;
    case 'expr': {
      const expression = compileExpression(node.expression, Object.keys(variables));
      const now = new Date();
      return (root) => isTruthy(expression(environmentOf(root, now, variables)));
    }
    default:
      return compileLeaf(node.path, node.leaf, variables);
  }
}

/**
 * Whether a match of an `$or` with these branches determines the index of the matched array element. As in MongoDB, it
 * does only for an `$or` that equals a simpler condition: one with a single branch, or one that is an `$in` of one
 * path.
 */
function tellsPosition([first, ...others]: readonly Node[]): boolean {
  return others.every((node) => isOneOfIn(first) && isOneOfIn(node) && node.path === first.path);
}

function isOneOfIn(node: Node | undefined): node is Node & { kind: 'leaf' } {
  if (node?.kind !== 'leaf') return false;
  const { leaf } = node;
  return leaf.op === 'regex' || (leaf.op === 'eq' && typeRank(leaf.value) !== RANK.regex);
}

function compileLeaf(path: string, leaf: Leaf, variables: Doc = {}): Matcher {
  const parts = splitPath(path);
  switch (leaf.op) {
    case 'elemObject': {
      const filter = compileNode(leaf.filter, variables);
      return onArray(parts, (element) => {
        const doc = asDoc(element) ?? (Array.isArray(element) ? Object.fromEntries(element.entries()) : undefined);
        return doc !== undefined && filter(doc);
      });
    }
    case 'elemValue': {
      const tests = leaf.tests.map(nodeTest);
      return onArray(parts, (element) => tests.every((test) => test(element)));
    }
    case 'size':
      return onPath(parts, false, (value) => Array.isArray(value) && value.length === leaf.size);
    default:
      return onPath(parts, true, leafTest(leaf));
  }
}

/** Applies a test to the values at a path. A path with a single name is read directly, without `walkPath`. */
function onPath(parts: string[], intoLeaf: boolean, test: Test): Matcher {
  const [name] = parts;
  if (name === undefined || parts.length > 1) {
    return (doc, details) =>
      walkPath(doc, parts, intoLeaf, (value, index) => {
        if (!test(value)) return false;
        if (details !== undefined && index !== undefined) details.index = index;
        return true;
      });
  }
  return (doc, details) => {
    const value = getField(doc, name);
    if (intoLeaf && Array.isArray(value)) {
      const index = value.findIndex(test);
      if (index >= 0) {
        if (details !== undefined) details.index = index;
        return true;
      }
    }
    return test(value);
  };
}

/** Whether any element of the array at the path passes the test. */
function onArray(parts: string[], test: Test): Matcher {
  return (doc, details) =>
    walkPath(doc, parts, false, (value, outer) => {
      if (!Array.isArray(value)) return false;
      const index = value.findIndex(test);
      if (index < 0) return false;
      if (details !== undefined) details.index = outer ?? index;
      return true;
    });
}

/** Compiles a parsed node to its test of a single value, for `$elemMatch` on values. */
function nodeTest(node: Node): Test {
  switch (node.kind) {
    case 'and': {
      const tests = node.children.map(nodeTest);
      return (value) => tests.every((test) => test(value));
    }
    case 'not': {
      const test = nodeTest(node.child);
      return (value) => !test(value);
    }
    case 'leaf': {
      const { leaf } = node;
      if (leaf.op === 'elemObject' || leaf.op === 'elemValue' || leaf.op === 'size') {
        const matcher = compileLeaf('value', leaf);
        return (value) => matcher({ value });
      }
      return leafTest(leaf);
    }
    default:
      return () => false;
  }
}
