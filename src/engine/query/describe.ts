import { asDoc, type Doc, typeName } from './types.ts';

/** Formats a value for an error message, similar to MongoDB. */
export function describe(value: unknown): string {
  switch (typeName(value)) {
    case 'missing':
      return 'missing';
    case 'string':
      return JSON.stringify(value);
    case 'objectId':
      return `ObjectId('${String(value)}')`;
    case 'date':
      return `new Date(${(value as Date).getTime()})`;
    case 'array':
      return `[ ${(value as unknown[]).map(describe).join(', ')} ]`;
    case 'object': {
      const fields = Object.entries(asDoc(value) as Doc).map(([name, field]) => `${name}: ${describe(field)}`);
      return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
    }
    default:
      return String(value);
  }
}
