import type { ErrorCode, REJECTION_CODES } from '../../src/domain/error-codes.ts';

interface Texts {
  /** What has happened. */
  readonly cause: string;
  /** What to do. */
  readonly cure: string;
}

/** The causes and cures of src/domain/error-codes.ts in French. The compiler reports a code that is missing here. */
export const FRENCH_ERRORS: Readonly<Record<ErrorCode | keyof typeof REJECTION_CODES, Texts>> = {
  invalid_request: {
    cause: 'Un champ, un paramètre ou un en-tête manque, est inconnu ou mal formé : `param` le nomme.',
    cure: 'Corrigez la requête. Renvoyée telle quelle, elle échoue de nouveau.',
  },
  invalid_api_key: {
    cause:
      'Aucun identifiant n’a été envoyé, son en-tête est mal formé, ou la clé est inconnue. Aussi une clé au mauvais endroit : à l’adresse de l’autre environnement, ou une clé de production arrivée sans chiffrement ou par un proxy auquel le service ne se fie pas (`TRUST_PROXY`).',
    cure: 'Envoyez `Authorization: Bearer <clé>`, avec une clé de cet environnement, par HTTPS. Si le message nomme `TRUST_PROXY`, c’est à l’opérateur de le régler ; la clé est bonne.',
  },
  api_key_revoked: { cause: 'La clé a été révoquée.', cure: 'Prenez la clé qui l’a remplacée.' },
  invalid_credentials: {
    cause: 'L’adresse e-mail ou le mot de passe est incorrect (comptes de personnes).',
    cure: 'Vérifiez les deux, ou choisissez un nouveau mot de passe.',
  },
  not_signed_in: {
    cause: 'Personne n’est connecté, ou la session a pris fin (comptes de personnes).',
    cure: 'Connectez-vous à `/sign-in`.',
  },
  confirmation_required: {
    cause:
      'Une personne crée un document de production dans une session sans second facteur, et n’a pas saisi son mot de passe dans les 15 dernières minutes. Les clés secrètes ne reçoivent jamais cette erreur.',
    cure: 'Envoyez le mot de passe à `POST /auth/confirm` depuis une page de ce service, puis la même requête de nouveau, avec sa clé d’idempotence.',
  },
  tenant_suspended: {
    cause: 'Un opérateur a suspendu l’entreprise : elle peut tout lire et rien modifier.',
    cure: 'Adressez-vous à l’opérateur du service. Renvoyez la requête quand la suspension a pris fin.',
  },
  insufficient_scope: {
    cause:
      'L’identifiant est valable, mais ne permet pas cela : une clé publiable ou un `client_secret` ne donne accès qu’à sa propre facture. Aussi la création d’une facture de production tant que le profil du vendeur est incomplet : le message nomme les champs manquants.',
    cure: 'Appelez depuis votre serveur avec une clé secrète (`sk_…`), ou complétez le profil (`updateSellerProfile` de GraphQL, ou l’opérateur) et renvoyez la requête.',
  },
  resource_not_found: {
    cause:
      'Il n’y a pas un tel objet pour cette clé. Les objets des autres entreprises et de l’autre environnement ne sont pas trouvés non plus.',
    cure: 'Vérifiez l’id, l’environnement de la clé et l’adresse.',
  },
  idempotency_conflict: {
    cause: 'La clé d’idempotence a déjà servi avec un autre contenu.',
    cure: 'Prenez une nouvelle clé pour une nouvelle facture ; pour répéter une requête, envoyez le même contenu.',
  },
  draft_changed: {
    cause: 'Le brouillon a été modifié après sa lecture (GraphQL).',
    cure: 'Relisez le brouillon, et décidez d’après son contenu actuel.',
  },
  draft_issued: {
    cause: 'Le brouillon est déjà une facture, ou est en train d’être émis (GraphQL).',
    cure: 'Lisez la facture que le message nomme. Un brouillon en cours d’émission en est une en moins d’une minute, ou redevient libre.',
  },
  import_not_checked: {
    cause:
      'L’import n’en est pas au point que la requête suppose : son fichier est encore en lecture, ne peut pas être lu, ou ses factures sont en cours d’émission (GraphQL).',
    cure: 'Relisez l’import. `status` dit ce qui vient ensuite.',
  },
  amount_too_small: {
    cause: '`amount` est inférieur au minimum, que le message indique.',
    cure: 'Les montants sont en centimes : 120,00 MAD s’écrit 12000.',
  },
  amount_mismatch: {
    cause: '`amount` n’est pas le total des lignes avec leur TVA ; le message indique ce total.',
    cure: 'Calculez la TVA une fois par taux, sur la somme de ses lignes, et arrondissez au centime le plus proche.',
  },
  invalid_ice: {
    cause: '`customer.ice` n’a pas exactement 15 chiffres.',
    cure: 'Demandez son ICE au client. Gardez-le comme texte : il peut commencer par des zéros.',
  },
  duplicate_number: {
    cause: 'Une autre facture a ce numéro de votre propre série.',
    cure: 'Envoyez le numéro suivant de votre série, ou aucun pour en recevoir un de la série du service.',
  },
  invalid_date: {
    cause: 'Une date des conditions est trop éloignée de celle de la facture, ou l’échéance la précède.',
    cure: 'Vérifiez la date ; le message indique la première et la dernière date admises.',
  },
  invalid_bank_account: {
    cause: 'La clé de contrôle du RIB (ses deux derniers chiffres) ne correspond pas.',
    cure: 'Vérifiez les 24 chiffres avec le titulaire du compte.',
  },
  credit_exceeds_invoice: {
    cause: 'L’avoir prendrait à la facture plus que ce qui reste à un taux de TVA (GraphQL).',
    cure: 'Créditez au plus ce qui reste ; le message l’indique.',
  },
  deposit_not_deductible: {
    cause:
      'La facture finale ne peut pas déduire l’acompte : ce n’est pas une facture d’acompte du même client, rien n’en reste, ou les lignes ont moins que lui (GraphQL).',
    cure: 'Suivez le message. Ce qu’une facture finale a déduit redevient libre dès qu’elle est rejetée, remplacée ou créditée en entier.',
  },
  invoice_not_accepted: {
    cause: 'La facture n’est pas acceptée : elle ne peut être ni créditée ni déduite (GraphQL).',
    cure: 'Attendez qu’elle soit acceptée. Une facture rejetée n’a pas d’effet : créez-en une corrigée.',
  },
  draft_limit_reached: {
    cause: 'Le nombre maximal de brouillons de cet environnement est atteint (GraphQL).',
    cure: 'Émettez-en ou supprimez-en.',
  },
  import_limit_reached: {
    cause:
      'Le nombre maximal d’imports de cet environnement, ou la taille maximale de leurs fichiers ensemble, est atteint (`POST /imports`).',
    cure: 'Supprimez-en. Ils partent aussi d’eux-mêmes 30 jours après leur envoi.',
  },
  invoice_not_replaceable: {
    cause:
      'La facture ne peut pas être remplacée : elle n’est ni acceptée ni rejetée, une autre la remplace, ou l’administration fiscale n’a pas décidé d’un de ses avoirs (GraphQL).',
    cure: 'Attendez la décision, ou remplacez la facture que le message nomme.',
  },
  endpoint_limit_reached: {
    cause: 'Le nombre maximal de destinations de cet environnement est atteint.',
    cure: 'Supprimez-en une qui ne sert pas.',
  },
  key_limit_reached: {
    cause: 'Le nombre maximal de clés valables de cet environnement est atteint (GraphQL).',
    cure: 'Révoquez les clés qui ne servent pas.',
  },
  last_secret_key: {
    cause: 'C’est la dernière clé secrète valable de son environnement (GraphQL).',
    cure: 'Créez d’abord une autre clé, ou envoyez `evenIfLast`.',
  },
  member_limit_reached: {
    cause: 'Le nombre maximal de personnes de cette entreprise est atteint (GraphQL).',
    cure: 'Retirez les personnes qui n’ont plus besoin d’un accès.',
  },
  last_owner: {
    cause: 'Cette personne est le dernier propriétaire de l’entreprise (GraphQL).',
    cure: 'Donnez d’abord ce rôle à quelqu’un d’autre.',
  },
  logo_limit_reached: {
    cause: 'Le nombre maximal de logos différents de l’entreprise est atteint (GraphQL).',
    cure: 'Prenez l’un des logos enregistrés.',
  },
  rate_limit_exceeded: {
    cause: 'L’identifiant ou, sans lui, l’adresse a fait trop de requêtes dans cette minute.',
    cure: 'Attendez `Retry-After` secondes. `X-RateLimit-Remaining` dit combien de requêtes restent.',
  },
  internal_error: {
    cause: 'Le service a échoué, ou n’est pas disponible pour le moment.',
    cure: 'Réessayez après `Retry-After`, avec la même `Idempotency-Key` ; si la requête échoue encore, citez le `Request-Id` à l’assistance.',
  },
  signature_error: {
    cause: 'La facture n’a pas pu être signée.',
    cure: 'Créez-la de nouveau. Si elle est encore rejetée, adressez-vous à l’opérateur du service.',
  },
  dgi_transmission_failed: {
    cause: 'Tous les essais de transmission ont échoué, et l’administration fiscale ne détient pas la facture.',
    cure: 'Créez-la de nouveau, avec une nouvelle `Idempotency-Key`.',
  },
};
