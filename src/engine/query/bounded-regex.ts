import { createContext, Script } from 'node:vm';
import { CommandError } from '../errors.ts';

/** Milliseconds that one match may take, and that all slow matches of one expression may take in total. */
const MATCH_MS = 200;
const SLOW_TOTAL_MS = 1000;
/** A match that takes longer than this many milliseconds counts as slow. */
const SLOW_MS = 5;
/** A match with at most this many steps runs without a time limit. Setting a time limit costs 0.2 ms. */
const UNTIMED_STEPS = 10_000_000;

const sandbox = createContext({ work: (): unknown => undefined });
const run = new Script('work()');

/**
 * A regular expression whose matching time is limited, as in MongoDB: error 51156 beyond the limit. A match that cannot
 * backtrack much runs without a time limit.
 */
export class BoundedRegex extends RegExp {
  /** A match takes at most text length ^ power steps. */
  readonly #power: number;
  #left = SLOW_TOTAL_MS;

  constructor(source: string | RegExp, flags?: string) {
    super(source, flags);
    this.#power = powerOf(this.source);
  }

  override exec(text: string): RegExpExecArray | null {
    if (text.length ** this.#power <= UNTIMED_STEPS) return super.exec(text);
    const started = performance.now();
    try {
      sandbox.work = () => super.exec(text);
      return run.runInContext(sandbox, { timeout: Math.min(MATCH_MS, Math.max(1, Math.ceil(this.#left))) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw tooLong();
      throw error;
    } finally {
      const took = performance.now() - started;
      if (took > SLOW_MS) this.#left -= took;
    }
  }
}

/**
 * Computes the exponent e for which a match of n characters takes at most about n^e steps: 1 plus the number of
 * quantifiers; Infinity if a repeated group contains an alternation or a repetition, or if there is a back-reference.
 */
function powerOf(source: string): number {
  let power = 1;
  let inClass = false;
  /** For each open group: whether it contains an alternation or a repetition. */
  const groups: boolean[] = [];
  let closed = false;
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string;
    const wasClosed = closed;
    closed = false;
    if (char === '\\') {
      i++;
      if (!inClass && /[1-9k]/.test(source[i] ?? '')) return Number.POSITIVE_INFINITY;
    } else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') groups.push(false);
    else if (char === ')') closed = groups.pop() === true;
    else if (char === '|') markGroups(groups);
    else if (char === '*' || char === '+' || char === '{') {
      if (wasClosed) return Number.POSITIVE_INFINITY;
      power++;
      markGroups(groups);
    }
  }
  return power;
}

/** Marks every open group, because an alternation or repetition belongs to all groups around it. */
function markGroups(groups: boolean[]): void {
  groups.fill(true);
}

function tooLong(): CommandError {
  return new CommandError(
    51156,
    'Error occurred while executing a regular expression: it takes too long (match limit exceeded)',
  );
}
