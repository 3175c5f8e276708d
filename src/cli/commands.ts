import { inviteAccount, removeOperator, removeSecondFactors } from './accounts.ts';
import { authorityStatus, pauseAuthority, resumeAuthority } from './authority.ts';
import { backup, check, restore } from './backup.ts';
import type { Command } from './command.ts';
import { askOnce, correctionCommands } from './corrections.ts';
import { demo } from './demo/demo.ts';
import { doctor } from './doctor.ts';
import { importFile } from './imports/import.ts';
import { abandonInvoice, invoicesNeedingAttention, retryInvoice } from './invoices.ts';
import { endDataKey, listDataKeys, resealSecrets, rotateDataKey, rotateMasterKey } from './key-ring.ts';
import { createKey, listKeys, renameKey, revokeKey, rotateKey } from './keys.ts';
import { ledgerOfNumbers } from './ledger-of-numbers.ts';
import { listNumbers } from './list-numbers.ts';
import { migrate } from './migrate.ts';
import { continueNumbers } from './numbers.ts';
import { listOperations } from './operations.ts';
import { acceptMasterKey, operatorReset } from './operator.ts';
import { acknowledgeDifference, reconcileAuthority } from './reconcile.ts';
import { eraseTenant, exportTenant, verifyTenantExport } from './tenant-data.ts';
import { createTenant, limitTenant, listTenants, updateTenant } from './tenants.ts';
import { verify } from './verify.ts';
import { listen } from './webhooks/listen.ts';
import { trigger } from './webhooks/trigger.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  createTenant,
  listTenants,
  updateTenant,
  limitTenant,
  exportTenant,
  verifyTenantExport,
  eraseTenant,
  createKey,
  listKeys,
  renameKey,
  revokeKey,
  rotateKey,
  inviteAccount,
  removeSecondFactors,
  removeOperator,
  operatorReset,
  rotateMasterKey,
  listDataKeys,
  rotateDataKey,
  endDataKey,
  resealSecrets,
  acceptMasterKey,
  migrate,
  invoicesNeedingAttention,
  retryInvoice,
  abandonInvoice,
  importFile,
  ...correctionCommands(askOnce),
  listNumbers,
  ledgerOfNumbers,
  continueNumbers,
  authorityStatus,
  pauseAuthority,
  resumeAuthority,
  reconcileAuthority,
  acknowledgeDifference,
  backup,
  restore,
  check,
  listen,
  trigger,
  listOperations,
  verify,
  doctor,
  demo,
];
