import type { Problem } from '../../../domain/authority/ports.ts';
import { KINDS, type Kind } from '../../../domain/invoice/kinds.ts';
import { SUPPORT } from '../../../domain/invoice/rejection-reasons.ts';
import type { Scenario } from '../../../domain/invoice/test-scenarios.ts';
import type { InvalidSignature } from '../../../domain/verification/verification.ts';

const SIGNATURE_FAULTS: Readonly<Record<InvalidSignature['failed'], string>> = {
  limits: 'Le document est trop grand pour que sa signature soit vérifiée.',
  structure: 'La signature n’est pas valide : le document n’a pas exactement une signature qui le couvre en entier.',
  digest: 'La signature n’est pas valide : le document a été modifié après avoir été signé.',
  signature: 'La signature n’est pas valide : elle n’a pas été faite avec la clé du certificat.',
  certificate: 'La signature n’est pas valide : son certificat n’est pas admis.',
  timestamp: 'La signature n’est pas valide : son horodatage n’est pas admis.',
};

/** Returns the XPath of the customer's ICE in a document of this kind. */
function customerIcePath(kind: Kind): string {
  return `/${KINDS[kind].ublRoot}/cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID`;
}

/** Returns the problem of an invalid signature. */
export function signatureProblem(failed: InvalidSignature['failed']): Problem {
  return problem('signature_invalid', SIGNATURE_FAULTS[failed], SUPPORT);
}

/** Returns the problem of a document whose digest is not the one that was announced. */
export function digestProblem(): Problem {
  return problem(
    'digest_wrong',
    'Le document ne correspond pas à l’empreinte annoncée : il a été modifié en route.',
    SUPPORT,
  );
}

/** Returns the problem for which a magic ICE has a valid document rejected; null if the document is accepted. */
export function scenarioProblem(scenario: Scenario | null, customerIce: string | null, kind: Kind): Problem | null {
  switch (scenario) {
    case 'unknown-ice': {
      const finding = `L’ICE ${customerIce} du client est inconnu de l’administration fiscale.`;
      return problem('ice_unknown', finding, 'Vérifiez-le auprès du client.', customerIcePath(kind));
    }
    case 'duplicate': {
      const finding =
        kind === 'invoice'
          ? 'L’administration fiscale détient déjà une facture de même contenu.'
          : 'L’administration fiscale détient déjà un avoir de même contenu.';
      const advice =
        kind === 'invoice'
          ? 'Cherchez-la parmi vos factures précédentes ; s’il s’agit d’une autre vente, précisez-le dans le contenu de la nouvelle facture.'
          : 'Cherchez-le parmi vos avoirs précédents ; s’il s’agit d’une autre correction, précisez-le dans le contenu du nouvel avoir.';
      return problem('duplicate_invoice', finding, advice);
    }
    default:
      return null;
  }
}

/** Returns the warning that the check key of the customer's ICE is wrong. */
export function checkKeyWarning(customerIce: string, kind: Kind): Problem {
  const finding = `La clé de contrôle de l’ICE ${customerIce} du client est fausse.`;
  return problem('ice_check_key', finding, 'Vérifiez-le auprès du client.', customerIcePath(kind));
}

/** Builds a problem. @param advice what to do, the end of the message */
function problem(code: string, finding: string, advice: string, path: string | null = null): Problem {
  return { code, path, message: `${finding} ${advice}` };
}
