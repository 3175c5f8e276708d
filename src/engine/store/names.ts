import { CommandError } from '../errors.ts';

/** Throws error 73 for a name that MongoDB does not accept for a database. */
export function checkDatabaseName(db: string): void {
  if (db === '' || db.length > 63 || /[/\\. "$\0]/.test(db)) {
    throw new CommandError('InvalidNamespace', `Invalid database name: '${db}'`);
  }
}

/** Throws error 73 for a name that MongoDB does not accept for a collection. */
export function checkCollectionName(db: string, name: string): void {
  const wrong =
    name === '' || /[$\0]/.test(name) || name.startsWith('.') || name.endsWith('.') || name.startsWith('system.');
  if (wrong || Buffer.byteLength(db) + 1 + Buffer.byteLength(name) > 255) {
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${db}.${name}'`);
  }
}
