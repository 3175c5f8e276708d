import { type ParsedArguments, UsageError } from '../command.ts';
import type { ColumnFacts } from './service.ts';

/** The choice for a column, as the service accepts it. */
interface Chosen {
  readonly key: string;
  readonly field: string | null;
}

/** The value in `--columns` for a column that is not used. */
const NONE = 'none';

/** Parses `--columns "Remise=line.discount.percent, N°=none"` to the field of each column. @throws {UsageError} */
export function parseColumns(input: Pick<ParsedArguments, 'find'>): ReadonlyMap<string, string | null> {
  const parts = input.find('columns')?.split(',') ?? [];
  return new Map(
    parts.map((part) => {
      const [, name, field] = /^\s*(.*?\S)\s*=\s*([\w.]+)\s*$/.exec(part) ?? [];
      if (name === undefined || field === undefined)
        throw new UsageError(`--columns must be like "Remise=line.discount.percent, N°=none", not '${part.trim()}'`);
      return [name, field === NONE ? null : field] as const;
    }),
  );
}

/**
 * Finds the columns of a file that were chosen by their headers or keys. Columns that already have the chosen field are
 * left out.
 * @throws {UsageError} for a column that the file does not have
 */
export function chosenColumns(
  columns: readonly ColumnFacts[],
  chosen: ReadonlyMap<string, string | null>,
): readonly Chosen[] {
  return [...chosen].flatMap(([name, field]) => {
    const column = columns.find(({ header, key, result }) => !result && (key === name || header.trim() === name));
    if (!column) throw new UsageError(`the file has no column '${name}'`);
    return column.field === field && column.mayBe.length === 0 ? [] : [{ key: column.key, field }];
  });
}

/** States which columns must be chosen, and by which option. */
export function toChoose(missing: readonly string[], columns: readonly ColumnFacts[]): readonly string[] {
  const open = columns.filter(({ mayBe }) => mayBe.length > 0);
  const asked = open.map(({ header, key, mayBe }) => {
    const options = [...mayBe, NONE].map((field) => `--columns "${key}=${field}"`);
    return `Column "${header}" may be ${mayBe.join(' or ')}, or not used: add ${options.join(' or ')}.`;
  });
  const others = missing.filter((field) => !open.some(({ mayBe }) => mayBe[0] === field));
  const unknown = others.map(
    (field) => `No column is ${field}: add --columns "HEADER=${field}" with the header of its column.`,
  );
  return [...asked, ...unknown];
}
