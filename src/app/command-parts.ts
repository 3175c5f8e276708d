/**
 * The modules of the composition that commands use. A command loads only the modules that it needs, because each
 * command needs only a few of the large ones. Tests replace them.
 */
export const commandParts = {
  administration: () => import('./administration.ts'),
  app: () => import('./app.ts'),
  backupStream: () => import('./backup/backup-stream.ts'),
  checkStore: () => import('./check-store.ts'),
  diagnosis: () => import('./diagnosis.ts'),
  followStore: () => import('./backup/follow-store.ts'),
  keyRotation: () => import('./key-rotation.ts'),
  localSender: () => import('./local-sender.ts'),
  migration: () => import('./migration.ts'),
  operationList: () => import('../graphql/operation-list.ts'),
  reconciliation: () => import('./reconciliation.ts'),
  restoreBackup: () => import('./backup/restore-backup.ts'),
  takeBackup: () => import('./backup/take-backup.ts'),
  tenantData: () => import('./tenant-data.ts'),
  verification: () => import('./verification.ts'),
};

export type CommandParts = typeof commandParts;
