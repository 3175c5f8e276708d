import type { Problem } from '../authority/ports.ts';
import type { Invoice } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { SigningFault } from './signing-key.ts';

/**
 * The French texts of `rejection_reason`, one for each way in which a document is rejected. Each ends with advice.
 * Their prefixes are those of `REJECTION_CODES`. Details for operators are in the log.
 */

/** Maximum length of the authority's part of a reason, in characters. */
const MAX_FINDINGS = 2000;

/** The words by which the texts name a document of each kind. */
const WORDS: Readonly<Record<Kind, Words>> = {
  invoice: {
    it: 'la facture',
    ofIt: 'de la facture',
    this: 'cette facture',
    yours: 'vos factures',
    aNewOne: 'une nouvelle facture',
    act: 'vente',
    isLegal: 'il en est la facture légale',
    ifAgain: 'si elle est rejetée elle aussi',
  },
  credit_note: {
    it: 'l’avoir',
    ofIt: 'de l’avoir',
    this: 'cet avoir',
    yours: 'vos avoirs',
    aNewOne: 'un nouvel avoir',
    act: 'correction',
    isLegal: 'il en est l’avoir légal',
    ifAgain: 's’il est rejeté lui aussi',
  },
};

interface Words {
  readonly it: string;
  readonly ofIt: string;
  readonly this: string;
  readonly yours: string;
  readonly aNewOne: string;
  /** What the document is about. */
  readonly act: string;
  readonly isLegal: string;
  readonly ifAgain: string;
}

/** Makes the reason if the authority examined the invoice and rejected it. */
export function rejectedByAuthority(invoice: Invoice, problems: readonly Problem[]): string {
  const findings = sentences(problems.map(({ message }) => message));
  return `${findings || `L’administration fiscale a rejeté ${WORDS[invoice.kind].it} sans en donner la raison.`} ${corrected(invoice)}`;
}

/**
 * Makes the reason if the authority does not accept the document, because of a limit of the authority or a defect of
 * this service.
 */
export function refusedByAuthority(invoice: Invoice, code: string, message: string): string {
  const findings = sentences([message]);
  return `L’administration fiscale n’a pas pris ${WORDS[invoice.kind].it} en charge (${code})${findings && ` : ${findings}`}${findings ? '' : '.'} ${NOT_HELD} ${SUPPORT} ${again(invoice)}.`;
}

/**
 * Makes the reason if the authority holds another document with this invoice's number.
 * @param original the id of that submission
 */
export function duplicateOf(invoice: Invoice, original: string): string {
  const { this: which, yours, act } = WORDS[invoice.kind];
  return (
    `L’administration fiscale détient déjà un autre document portant le numéro de ${which}, sous l’identifiant ${original}. ` +
    `Cherchez-le parmi ${yours} ; s’il s’agit d’une autre ${act}, ${lowered(again(invoice))}.`
  );
}

/** Makes the reason if an operator ended an invoice that waited forever. @param reason the operator's, one line */
export function abandonedByOperator(invoice: Invoice, reason: string): string {
  const { this: which, act, isLegal } = WORDS[invoice.kind];
  return (
    `${ABANDONED} ${which}, car l’administration fiscale détient un autre document sous son identifiant (${invoice.id}) : ${sentences([reason])} ` +
    `Si ce document est celui de la même ${act}, ${isLegal}, et il n’en faut pas d’autre ; ` +
    `s’il s’agit d’une autre ${act}, ${lowered(again(invoice))}.`
  );
}

/** Whether {@link abandonedByOperator} made this reason. */
export function isAbandonment(rejectionReason: string | null): boolean {
  return rejectionReason?.startsWith(ABANDONED) ?? false;
}

/** Makes the reason if every attempt to transmit failed and none was received. */
export function transmissionFailed(invoice: Invoice, attempts: number): string {
  return (
    `dgi_transmission_failed: l’administration fiscale est restée injoignable pendant ${attempts} tentatives et ne détient aucun exemplaire ${WORDS[invoice.kind].ofIt}. ` +
    `${again(invoice)}, plus tard.`
  );
}

/** Makes the reason if signing failed after its retries. */
export function signingFailed(invoice: Invoice, fault: RejectingFault): string {
  return (
    `signature_error: ${SIGNING_FAULTS[fault]} Rien n’a été transmis à l’administration fiscale. ${again(invoice)} ; ` +
    `${WORDS[invoice.kind].ifAgain}, contactez le support du service de facturation.`
  );
}

/** Makes the reason if the UBL document written by this service breaks a rule. */
export function invalidDocument({ kind }: Invoice): string {
  return (
    'Le document UBL établi par le service de facturation est invalide. Rien n’a été transmis à l’administration fiscale. ' +
    `Contactez le support du service de facturation, avec l’identifiant ${WORDS[kind].ofIt}.`
  );
}

/** {@link isAbandonment} recognizes stored reasons by this text, so it must never change. */
const ABANDONED = 'L’exploitant du service de facturation a mis fin au traitement de';
/** {@link isNotIssued} recognizes stored reasons by this text, so it must never change. */
const NOT_ISSUED = 'Cette facture n’a pas été émise :';
const NOT_HELD = 'Elle n’en détient aucun exemplaire.';
export const SUPPORT = 'Contactez le support du service de facturation.';

/** A fault that rejects the invoice after the retries. */
export type RejectingFault = Exclude<SigningFault, 'no_live_certificate'>;

const SIGNING_FAULTS: Readonly<Record<RejectingFault, string>> = {
  requested: 'l’ICE magique de l’environnement de test demande cet échec.',
  certificate_period: 'la date est hors de la période de validité du certificat de signature.',
  time_stamp: 'l’autorité d’horodatage n’a pas répondu correctement.',
  key: 'la clé de signature n’a pas pu être utilisée.',
};

/**
 * Returns advice on a rejected document that the authority does not hold. Creating it again needs a new
 * Idempotency-Key, because the old one would return the rejected one.
 */
function again({ kind, ownNumber }: Pick<Invoice, 'kind' | 'ownNumber'>): string {
  return `Créez ${WORDS[kind].it} à nouveau, avec une nouvelle Idempotency-Key${ownNumber === null ? '' : ' et un nouveau numéro'}`;
}

function corrected({ kind, ownNumber }: Pick<Invoice, 'kind' | 'ownNumber'>): string {
  return `Après correction, créez ${WORDS[kind].aNewOne}, avec une nouvelle Idempotency-Key${ownNumber === null ? '' : ' et un nouveau numéro'}.`;
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Joins texts of the authority as sentences, up to {@link MAX_FINDINGS} characters. */
function sentences(texts: readonly string[]): string {
  const all = texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => (/[.!?…]$/.test(text) ? text : `${text}.`))
    .join(' ');
  return all.length <= MAX_FINDINGS ? all : `${all.slice(0, MAX_FINDINGS - 1).toWellFormed()}…`;
}

/** Makes the reason of an invoice that is not issued because the credit note that it waited for is rejected. */
export function creditNoteRejected(invoice: Invoice): string {
  return `${NOT_ISSUED} l’administration fiscale a rejeté l’avoir qui devait annuler la facture remplacée. ${retry(invoice)}`;
}

/** Whether {@link creditNoteRejected} or {@link replacedOtherwise} made the reason of this invoice. */
export function isNotIssued({ rejectionReason }: Pick<Invoice, 'rejectionReason'>): boolean {
  return rejectionReason?.startsWith(NOT_ISSUED) ?? false;
}

/** Makes the reason if the invoice that it replaces was replaced or credited otherwise before this one was stored. */
export function replacedOtherwise(invoice: Invoice): string {
  return `${NOT_ISSUED} la facture remplacée a été remplacée ou créditée autrement entre-temps. ${retry(invoice)}`;
}

function retry({ ownNumber }: Pick<Invoice, 'ownNumber'>): string {
  return `Vérifiez la facture remplacée, puis remplacez la présente facture${ownNumber === null ? '' : ', avec un nouveau numéro'}.`;
}

/** Makes the reason if a deposit was deducted or credited otherwise before this invoice was stored. */
export function deductedOtherwise(invoice: Invoice): string {
  return `Un acompte déduit a été déduit ou crédité autrement entre-temps. Vérifiez les factures d’acompte. ${again(invoice)}.`;
}

/** Makes the reason if other credit notes took what was left of the invoice before this one was stored. */
export function creditExceedsInvoice(): string {
  return 'L’avoir dépasse ce qui reste de sa facture : un autre avoir l’a créditée entre-temps. Créez un avoir du montant restant.';
}
