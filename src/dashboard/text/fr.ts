import type { InvoiceStatus } from '../../domain/invoice/lifecycle.ts';
import type { TextField } from '../settings/profile-change.ts';
import { formatNumber } from './money.ts';
import { counted } from './plural.ts';

/** The texts of a status: its name as a step, a headline for the current status, and its meaning for the customer. */
interface StatusTexts {
  readonly step: string;
  readonly headline: string;
  readonly meaning: string;
}

/** The hint of a new password. */
const LONG = '12 caractères au moins. Plusieurs mots se retiennent mieux que des caractères spéciaux.';

export const fr = {
  language: 'Langue',
  footer: 'Facturation électronique au Maroc',
  notFound: 'Page introuvable',
  notFoundUnder: 'Il n’y a rien à cette adresse.',
  toStart: 'Aller à l’accueil',
  /** The texts of a page whose files could not be loaded. */
  unloaded: {
    title: 'La page n’a pas pu être chargée',
    under: 'Votre connexion a été interrompue, ou ces pages ont une nouvelle version.',
    again: 'Réessayer',
  },
  loading: 'Lecture de la facture…',
  lost: 'Connexion perdue, nouvelle tentative en cours',
  offline: 'Vous êtes hors ligne. La page se mettra à jour à votre retour.',
  refused: 'Cette facture ne peut pas être affichée',
  refusedUnder:
    'Le lien est incomplet ou n’est plus valable. Ouvrez-le de nouveau tel que vous l’avez reçu, ou demandez-le à votre fournisseur.',
  invoice: 'Facture',
  test: 'Facture de test',
  testUnder: 'Sans valeur légale ni fiscale : une administration simulée décide.',
  numberToCome: 'numéro à venir',
  /** The total including tax, without the rounding. */
  total: 'Total TTC',
  details: 'Détails',
  customer: 'Facturé à',
  ice: 'ICE',
  createdOn: 'Date d’émission',
  operationOn: 'Date de l’opération',
  dueOn: 'Échéance',
  payment: 'Paiement',
  dgiId: 'Identifiant DGI',
  subtotal: 'Total HT',
  /** @param rate percent */
  vat: (rate: number) => `TVA ${rate}\u00a0%`,
  rounding: 'Arrondi',
  /** The amount payable, `total` plus `rounding`, by the name that the PDF has for it. */
  payable: 'Net à payer',
  /** The last step while the decision is pending. */
  decision: 'Décision',
  progress: 'Progression',
  reason: 'Motif',
  /** The reason of a credit note in words. */
  note: 'Précision',
  documents: 'Documents',
  pdf: 'Facture PDF',
  pdfUnder: 'Signée, prête à imprimer',
  xml: 'XML signé',
  xmlUnder: 'L’original électronique',
  verify: 'Vérifier',
  verifyUnder: 'Émetteur et authenticité',
  documentsToCome:
    'Le PDF et le XML signé seront disponibles ici dès que l’administration fiscale aura accepté la facture.',
  noDocuments: 'Une facture rejetée n’a pas de documents.',
  statuses: {
    pending: {
      step: 'Reçue',
      headline: 'Facture reçue',
      meaning: 'Le service de facturation a enregistré la facture et prépare le document électronique.',
    },
    signing: {
      step: 'En signature',
      headline: 'Signature en cours',
      meaning: 'Le document électronique est établi. Il reçoit sa signature avant d’être transmis.',
    },
    transmitted: {
      step: 'Transmise',
      headline: 'Transmise à l’administration fiscale',
      meaning: 'La Direction générale des impôts a reçu la facture. Sa décision est attendue.',
    },
    accepted: {
      step: 'Acceptée',
      headline: 'Acceptée par l’administration fiscale',
      meaning: 'La facture est valable. Vous pouvez en télécharger les documents signés.',
    },
    rejected: {
      step: 'Rejetée',
      headline: 'Facture rejetée',
      meaning: 'Cette facture n’est pas valable. Attendez de votre fournisseur une facture corrigée avant de payer.',
    },
  },
  /** The names of the statuses where they count or filter invoices. */
  statusFilters: {
    pending: 'Reçues',
    signing: 'En signature',
    transmitted: 'Transmises',
    accepted: 'Acceptées',
    rejected: 'Rejetées',
  } as Readonly<Record<InvoiceStatus, string>>,
  /** Replace the texts above for members of the seller's tenant. */
  sellerStatuses: {
    rejected: {
      step: 'Rejetée',
      headline: 'Facture rejetée',
      meaning:
        'Cette facture n’est pas valable et ne peut pas être renvoyée. Corrigez ce que le motif indique, puis émettez une nouvelle facture\u00a0; le numéro de celle-ci reste pris.',
    },
  } as Partial<Record<InvoiceStatus, StatusTexts>>,
  /** Replace the texts above for a test invoice, which is never called valid. */
  testStatuses: {
    transmitted: {
      step: 'Transmise',
      headline: 'Transmise à l’administration simulée',
      meaning: 'Sa décision est attendue. La Direction générale des impôts ne reçoit rien.',
    },
    accepted: {
      step: 'Acceptée',
      headline: 'Acceptée par l’administration simulée',
      meaning: 'Le test est concluant. Cette facture reste sans valeur ; ses documents signés sont des spécimens.',
    },
  } as Partial<Record<InvoiceStatus, StatusTexts>>,
  /** The texts of the root page. */
  welcome: {
    title: 'La facture électronique, de l’API à la décision',
    lead: 'Fatoura établit vos factures au format UBL, les signe, les transmet à la Direction générale des impôts et vous en tient informé en direct.',
    firstInvoice: 'Votre première facture',
    steps: [
      'Prenez la clé de test que le premier démarrage a affichée, ou créez-en une en ligne de commande.',
      'Envoyez une facture avec cette clé.',
      'Ouvrez la page de la facture avec les champs id et client_secret de la réponse.',
    ],
    docs: 'Documentation',
    graphql: 'Explorateur GraphQL',
    openapi: 'Description OpenAPI',
    account: 'Votre compte',
  },
  /** The texts of the pages of accounts. */
  account: {
    title: 'Votre compte',
    loading: 'Lecture de votre compte…',
    signOut: 'Se déconnecter',
    roles: 'Vos rôles',
    backToPlace: 'Revenir où vous étiez',
    noRoles: 'Vous n’avez pas encore de rôle. Demandez une invitation à un propriétaire ou à un opérateur.',
    /** The service as a whole, as the scope of an operator's role. */
    service: 'Tout le service',
    operator: 'Opérateur',
    /** The texts of the links to the pages of operators. */
    jobs: 'Tâches',
    metrics: 'Mesures',
    roleNames: { viewer: 'Lecteur', biller: 'Facturation', developer: 'Développeur', owner: 'Propriétaire' },
    labels: {
      email: 'Adresse e-mail',
      name: 'Votre nom',
      password: 'Mot de passe',
      chosenPassword: 'Mot de passe',
      currentPassword: 'Mot de passe actuel',
      newPassword: 'Nouveau mot de passe',
      newEmail: 'Nouvelle adresse e-mail',
      code: 'Code',
      passkeyName: 'Nom de la clé d’accès',
    },
    hints: {
      chosenPassword: LONG,
      newPassword: LONG,
      passkeyName: 'Par exemple celui de l’appareil qui la garde.',
    },
    show: 'Afficher le mot de passe',
    hide: 'Masquer le mot de passe',
    signIn: { title: 'Connexion', submit: 'Se connecter', passkey: 'Se connecter avec une clé d’accès' },
    /** The step after the password. */
    codeStep: {
      title: 'Seconde étape',
      lead: 'Saisissez le code affiché par votre application d’authentification, ou un code de secours.',
      submit: 'Continuer',
      back: 'Recommencer',
    },
    /** Shown to a person whose address has not been confirmed by a mail. */
    unconfirmed:
      'Votre adresse n’est pas encore confirmée. Choisissez un mot de passe par un lien que nous vous envoyons\u00a0: il supprime codes et clés d’accès, que vous ajoutez ensuite de nouveau. D’ici là, quiconque lit cette boîte peut le faire.',
    join: {
      title: 'Accepter l’invitation',
      lead: 'Créez votre compte. Si vous en avez déjà un, saisissez son adresse e-mail et son mot de passe.',
      submit: 'Continuer',
      incomplete: 'Le lien est incomplet. Ouvrez-le de nouveau tel que vous l’avez reçu.',
      ended: {
        used: 'Cette invitation a déjà servi. Si c’était vous, connectez-vous. Sinon, choisissez un nouveau mot de passe par «\u00a0Mot de passe oublié\u00a0?\u00a0»\u00a0: quiconque s’est servi de votre adresse perd tout accès.',
        revoked: 'Cette invitation a été retirée. Demandez-en une autre à la personne qui vous a invité.',
        suspended:
          'L’entreprise qui vous invite est suspendue pour le moment. Ce lien reste valable jusqu’à son expiration\u00a0: ouvrez-le de nouveau quand elle sera réactivée, ou adressez-vous à la personne qui vous a invité.',
        unknown:
          'Cette invitation a expiré, ou le lien est incomplet. Ouvrez-le tel que vous l’avez reçu, ou demandez-en un autre\u00a0: chacun est valable 7 jours.',
      },
    },
    forgotten: {
      title: 'Mot de passe oublié',
      link: 'Mot de passe oublié ?',
      lead: 'Nous envoyons un lien à votre adresse e-mail. Il est valable une heure.',
      submit: 'Envoyer le lien',
      sent: 'S’il existe un compte avec cette adresse, un message avec un lien est en route.',
      again: 'Demander un autre lien',
    },
    reset: {
      title: 'Nouveau mot de passe',
      lead: 'Il met fin à toutes vos sessions.',
      submit: 'Enregistrer le mot de passe',
      done: 'Votre nouveau mot de passe est enregistré. Connectez-vous avec lui.',
      incomplete: 'Le lien est incomplet. Ouvrez-le de nouveau tel que vous l’avez reçu.',
    },
    change: {
      title: 'Changer le mot de passe',
      lead: 'Tous les autres navigateurs seront déconnectés.',
      submit: 'Changer le mot de passe',
      done: 'Le mot de passe est changé. Tous les autres navigateurs sont déconnectés.',
    },
    /** Why passkeys do not work here. @param origin the address of the service */
    passkeyObstacles: {
      unnamed: (origin: string) =>
        `Les clés d’accès demandent un nom de domaine\u00a0; l’adresse du service, ${origin}, n’en a pas.`,
      insecure: (origin: string) =>
        `Les clés d’accès demandent une connexion chiffrée (HTTPS)\u00a0; l’adresse du service, ${origin}, ne l’est pas.`,
      elsewhere: (origin: string) => `Les clés d’accès ne fonctionnent qu’à l’adresse ${origin}.`,
      unsupported: () => 'Ce navigateur ne connaît pas les clés d’accès.',
    },
    /** The texts of an account's codes and passkeys. */
    factors: {
      title: 'Second facteur',
      lead: 'Avec un second facteur, un mot de passe volé ne suffit pas pour se connecter. Activer ou désactiver les codes, ou supprimer une clé d’accès, déconnecte tous les autres navigateurs.',
      codes: 'Codes d’une application d’authentification',
      off: 'Désactivé\u00a0: le mot de passe suffit.',
      /** @param left number of unused recovery codes */
      on: (left: number) => `Activé\u00a0: la connexion demande un code. Codes de secours restants\u00a0: ${left}.`,
      setUp: 'Activer les codes',
      scan: 'Scannez ceci avec votre application, puis saisissez le code qu’elle affiche.',
      qrCode: 'Code QR pour l’application d’authentification',
      byHand: 'Ou saisissez-y cette clé\u00a0:',
      confirm: 'Confirmer le code',
      recoveryLead:
        'Gardez ces codes de secours en lieu sûr. Chacun remplace un code une fois. Ils ne seront plus affichés.',
      newRecovery: 'Nouveaux codes de secours',
      remove: 'Désactiver les codes',
      passkeys: 'Clés d’accès',
      noPasskeys:
        'Aucune pour l’instant. Une clé d’accès sur votre téléphone, votre ordinateur ou une clé de sécurité remplace le mot de passe et le code.',
      addPasskey: 'Ajouter une clé d’accès',
      removePasskey: 'Supprimer',
    },
    /** The texts of the list of browsers in which a person is signed in. */
    sessions: {
      title: 'Où vous êtes connecté',
      lead: 'Une session se termine 7 jours après sa dernière utilisation, indiquée à une heure près. L’adresse réseau et le programme sont ceux du moment de la connexion.',
      /** Shown for a browser that did not identify itself. */
      unknown: 'Programme inconnu',
      current: 'ce navigateur',
      used: 'Dernière utilisation',
      begun: 'Connexion',
      end: 'Déconnecter',
      endQuestion: 'Cet autre navigateur est déconnecté immédiatement. Continuer\u00a0?',
      endOthers: 'Déconnecter tous les autres navigateurs',
      endOthersQuestion: 'Tous les navigateurs sauf celui-ci sont déconnectés immédiatement. Continuer\u00a0?',
    },
    /** The texts about name and address of the account. */
    details: {
      title: 'Nom et adresse',
      name: 'Nom',
      nameLead: 'Les membres de vos entreprises le voient, et il figure dans leur journal d’audit.',
      rename: 'Modifier le nom',
      renamed: 'Le nom est modifié.',
      address: 'Adresse e-mail',
      addressLead:
        'Nous envoyons à la nouvelle adresse un lien, que vous ouvrez en étant connecté. L’adresse actuelle en est informée.',
      ask: 'Envoyer le lien',
      asked:
        'Un lien est en route vers la nouvelle adresse. Il est valable une heure. Rien ne change tant que vous ne l’avez pas ouvert.',
    },
    /** The texts of the page that confirms a new address. */
    newAddress: {
      title: 'Confirmer la nouvelle adresse',
      lead: 'Cette adresse devient celle de votre compte, et tous les autres navigateurs sont déconnectés. Vous devez être connecté au compte pour lequel elle a été demandée.',
      submit: 'Confirmer l’adresse',
      incomplete: 'Le lien est incomplet. Ouvrez-le de nouveau, exactement tel que vous l’avez reçu.',
      done: 'Votre compte a la nouvelle adresse. Utilisez-la désormais pour vous connecter.',
    },
    refusals: {
      wrongCredentials: 'L’adresse e-mail ou le mot de passe est incorrect.',
      wrongPassword: 'Le mot de passe est incorrect.',
      /**
       * A new password is required, because whoever created the account before its address was confirmed may know the
       * old one.
       */
      knownPassword:
        'Ce compte a été créé avant que son adresse soit confirmée\u00a0: d’autres connaissent peut-être son mot de passe. Choisissez-en un autre\u00a0; les codes et les clés d’accès ajoutés auparavant sont supprimés.',
      /** Shown for a new password that is easy to guess. */
      guessable:
        'Ce mot de passe se devine facilement\u00a0: répétitions, mots courants, noms, dates, touches voisines. Prenez quatre mots sans rapport entre eux, ou laissez un gestionnaire de mots de passe en créer un.',
      /** Shown when another account has the address. */
      taken: 'Un autre compte a déjà cette adresse.',
      wrongCode: 'Le code est incorrect ou a déjà servi\u00a0: chacun sert une fois. Attendez le suivant.',
      passkey: 'La clé d’accès n’a pas été acceptée, ou la fenêtre a été fermée.',
      link: 'Ce lien a servi, a expiré ou concerne une autre adresse e-mail. Demandez-en un autre.',
      notSignedIn: 'Votre session a pris fin. Connectez-vous de nouveau.',
      unreachable: 'Le service est injoignable. Réessayez dans un instant.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
      tooMany: (minutes: number) => `Trop de tentatives. Réessayez dans ${minutes}\u00a0min.`,
      /** @param label the name of the field that is wrong */
      field: (label: string) => `Vérifiez ce champ\u00a0: ${label}.`,
    },
  },
  /** The texts of pages within pages of other products. */
  embedding: {
    expired: 'Cette page a expiré. Rouvrez-la là où vous l’avez trouvée.',
    none: 'Rien n’a encore été envoyé.',
  },
  /** The texts of the pages of operators. */
  operators: {
    title: 'Exploitation',
    tenants: 'Entreprises',
    entries: 'Journal d’audit',
    entriesLead:
      'Ce que les opérateurs ont fait pour tout le service. Ce qu’ils ont fait pour une entreprise est dans son propre journal.',
    attention: 'À traiter',
    nothing: 'Rien à traiter.',
    since: 'depuis le',
    retry: 'Relancer',
    queues: 'Files d’attente',
    queue: 'File',
    waiting: 'En attente',
    oldest: 'La plus ancienne',
    webhooks: 'Envois de webhooks',
    transmissions: 'Factures de production en attente de l’administration',
    authority: 'Administration fiscale',
    noAuthority: 'Aucune administration n’est configurée (DGI_URL).',
    state: 'État',
    outages: 'Nombre de pannes',
    nextProbe: 'Prochain essai',
    notBefore: 'Rien n’est envoyé avant',
    workers: 'Processus de traitement\u00a0:',
    transmitting: 'Processus qui transmettent',
    inFlight: 'en cours\u00a0:',
    paused: 'Arrêté par',
    resume: 'Reprendre les envois',
    resumeQuestion: 'Les factures de production en attente partiront vers l’administration fiscale. Continuer\u00a0?',
    reason: 'Motif',
    /** The reason of a credit note in words. */
    note: 'Précision',
    pause: 'Arrêter tous les appels',
    pauseQuestion:
      'Plus aucune facture de production, d’aucun compte, ne partira vers l’administration fiscale jusqu’à la reprise des envois. Elles attendent, et aucune n’est perdue. Pourquoi\u00a0?',
    pausedState: 'Arrêté\u00a0: rien n’est envoyé',
    certificates: 'Certificats',
    noCertificates: 'Aucun processus de traitement n’a encore annoncé ses certificats.',
    testOnly: 'Test seulement',
    until: 'valable jusqu’au',
    disk: 'Disque',
    data: 'Données du service',
    free: 'Libre',
    /** @param n a number of gigabytes, as the language writes it */
    gigabytes: (n: string) => `${n}\u00a0Go`,
    tenantName: 'Nom de l’entreprise',
    createTenant: 'Créer une entreprise',
    suspended: 'Suspendue',
    suspension: 'Suspension',
    suspensionLead: 'Une entreprise suspendue peut tout lire et ne rien modifier. Ce qui est en cours continue.',
    suspend: 'Suspendre l’entreprise',
    suspendQuestion:
      'L’entreprise ne pourra plus créer de factures. Ses propriétaires le verront dans leur journal. Continuer\u00a0?',
    unsuspend: 'Mettre fin à la suspension',
    unsuspendQuestion: 'L’entreprise pourra de nouveau créer des factures. Continuer\u00a0?',
    inviteLead: 'Crée un lien valable une fois, pendant 7 jours. Envoyez-le à la personne.',
    /** @param role the name of a role */
    inviteAs: (role: string) => `Inviter\u00a0: ${role}`,
    lanes: {
      stages: 'Factures de test',
      signing: 'Factures de production à signer',
      transmissions: 'Factures de production à transmettre',
      answers: 'Factures de production sans réponse',
      documents: 'Fichiers PDF',
      mail: 'E-mails',
      idle: 'PDF en arrière-plan',
    },
    breakers: {
      closed: 'Les factures sont envoyées',
      open: 'Ouvert\u00a0: seuls des essais sont envoyés',
      half_open: 'Semi-ouvert\u00a0: une facture est essayée',
    },
    reasons: {
      internal_error: 'Erreur interne',
      digest_mismatch: 'L’administration a un autre document',
      outcome_unknown: 'Résultat de la transmission inconnu',
      undecided: 'Aucune décision depuis un jour',
      receipt_delayed: 'Accusé de réception en retard',
      receipt_invalid: 'Accusé de réception non valable',
      pdf_delayed: 'PDF en retard',
      credit_note_rejected: 'avoir rejeté, facture non émise',
    },
  },
  /** The texts of the frame of a signed-in person's pages. */
  workspace: {
    skip: 'Aller au contenu',
    environment: 'Environnement',
    test: 'Test',
    live: 'Production',
    testUnder: 'Environnement de test : une administration simulée décide. Rien ici n’a de valeur légale ni fiscale.',
    sections: 'Rubriques',
  },
  /** The texts of the home page. */
  home: {
    title: 'Accueil',
    created: 'Créées',
    open: 'En cours',
    perDay: 'Factures par jour de création',
    day: 'Jour',
    attention: 'À surveiller',
    nothing: 'Rien à signaler.',
    firstSteps: 'Premiers pas',
    done: 'fait',
    toDo: 'à faire',
    steps: {
      key: 'Créer une clé secrète',
      invoice: 'Créer une première facture',
      accepted: 'La voir acceptée',
      endpoint: 'Ajouter une destination de webhooks',
      delivered: 'Recevoir un premier événement',
    },
  },
  /** The texts of the search of invoices and of their export. */
  search: {
    label: 'Rechercher',
    hint: 'Client, numéro, ICE, total (1 234,50), identifiant, commande ou métadonnée',
    submit: 'Rechercher',
    remove: 'Retirer la recherche',
    export: 'Exporter en CSV',
    exporting: counted('fr', { one: '# document lu…', other: '# documents lus…' }),
    exported: counted('fr', { one: '# document exporté.', other: '# documents exportés.' }),
    exportFailed: 'L’export s’est interrompu : le service est injoignable. Réessayez.',
    stop: 'Arrêter',
    taxTotal: 'TVA',
    currency: 'Devise',
    /** The column of an export, with the time of day and the zone. */
    createdAt: 'Créée le',
  },
  /** The texts of the dialog that asks for the password. */
  confirmation: {
    title: 'Est-ce bien vous\u00a0?',
    lead: 'Cette opération a une valeur légale. Saisissez votre mot de passe\u00a0; il suffit pour les 15 minutes qui suivent.',
    submit: 'Confirmer',
  },
  /** The texts of the form that creates an invoice. */
  creation: {
    title: 'Nouvelle facture de test',
    lead: 'Elle suit tout le parcours. Rien n’est transmis à la DGI.',
    live: {
      title: 'Nouvelle facture',
      lead: 'Elle a une valeur légale\u00a0: elle est numérotée, signée et transmise à la DGI.',
    },
    scenario: 'Résultat à simuler',
    ordinary: 'Acceptée',
    scenarios: {
      unknown_ice: 'Rejetée : ICE du client inconnu',
      duplicate: 'Rejetée : facture en double',
      slow_decision: 'Acceptée après 10 s',
      unavailable_twice: 'Administration indisponible deux fois, puis acceptée',
      unavailable: 'Administration indisponible : rejetée après 5 tentatives',
      lost_reply: 'Réponse de l’administration perdue, puis acceptée',
      signing_fails: 'Rejetée : la signature échoue',
      slow_receipt: 'Acceptée, accusé de réception après 60 s',
    },
    name: 'Nom du client',
    email: 'E-mail du client (facultatif)',
    number: 'Numéro de votre propre série (facultatif)',
    line: (n: number) => `Ligne ${n}`,
    addLine: 'Ajouter une ligne',
    removeLine: 'Retirer la ligne',
    pasted: 'Les lignes collées remplacent ce qui s’y trouvait.',
    undoPaste: 'Annuler le collage',
    pasteTooMany: (rows: number, most: number) =>
      `Rien n’a été collé\u00a0: ${formatNumber(rows, 'fr')} lignes copiées, ${most} au plus à partir d’ici.`,
    pasteTooLong: 'Rien n’a été collé\u00a0: le texte copié est trop long.',
    kept: 'Votre saisie a été conservée.',
    startAgain: 'Recommencer',
    unit: 'Unité',
    pieces: 'Pièces',
    discount: 'Remise (MAD ou %)',
    taxIncluded: 'Prix TTC',
    taxMark: 'TTC',
    submit: 'Créer la facture',
    byApi: 'La même par l’API',
    byApiUnder: 'Avec une clé secrète de test à la place de sk_test_…',
  },
  /** The texts of the page of requests. */
  requests: {
    title: 'Requêtes',
    lead: 'Les requêtes de vos clés d’API des 7 derniers jours, sans leur contenu. Elles apparaissent après une ou deux secondes.',
    none: 'Aucune requête ne correspond.',
    all: 'Toutes',
    failedOnly: 'En erreur',
    again: 'Actualiser',
    byError: 'Erreurs',
    times: counted('fr', { other: '# fois' }),
    requestId: 'Identifiant',
    key: 'Clé',
    error: 'Erreur',
    graphiql: 'Essayer des requêtes dans GraphiQL',
    likeIt: counted('fr', { other: 'Représente # requêtes semblables de la même minute.' }),
  },
  /** The texts of the seller's profile. */
  settings: {
    title: 'Paramètres',
    lead: 'Le vendeur sur vos factures. Les deux environnements partagent ce profil ; les factures existantes ne changent pas.',
    goingLive: 'Passer en production',
    profile: 'Profil du vendeur',
    forOwners: 'Seuls les propriétaires modifient ce profil.',
    save: 'Enregistrer',
    saved: 'Enregistré. Les nouvelles factures utilisent ce profil.',
    unsaved: 'Modifications non enregistrées.',
    preview: 'Aperçu de la facture',
    previewLead: 'Une facture d’exemple avec le profil tel que vous le saisissez. Rien n’est enregistré.',
    openPreview: 'Ouvrir le PDF',
    drawing: 'Le PDF est en cours de dessin…',
    paymentMeans: 'Moyen de paiement',
    noMeans: 'Non précisé',
    documentLanguage: 'Langue des documents',
    operationDate: 'La date de l’opération est celle de la facture, sauf indication contraire',
    logo: 'Logo',
    logoHint: 'PNG ou JPEG, 256 Ko et 1 500 pixels de côté au plus.',
    removeLogo: 'Supprimer le logo',
    /** @param fields names of fields */
    missing: (fields: string) => `Il manque : ${fields}.`,
    conditions: {
      profile: 'Compléter le profil du vendeur',
      certificate: 'Confier au service le certificat de signature',
      authority: 'Relier le service à la DGI',
      address: 'Donner au service une adresse HTTPS',
      clock: 'Tenir à jour l’heure du Maroc dans le service',
    },
    groups: { company: 'Entreprise', contact: 'Adresse et contact', payment: 'Paiement', documents: 'Documents' },
    fields: {
      legalName: 'Raison sociale',
      legalForm: 'Forme juridique',
      capital: 'Capital social (MAD)',
      ice: 'ICE',
      taxId: 'Identifiant fiscal (IF)',
      tradeRegister: 'Registre du commerce',
      professionalTax: 'Taxe professionnelle',
      cnss: 'Affiliation CNSS',
      address: 'Adresse',
      street: 'Rue et numéro',
      city: 'Ville',
      postalCode: 'Code postal',
      email: 'E-mail',
      paymentMode: 'Moyen de paiement en toutes lettres',
      paymentTermDays: 'Délai de paiement (jours)',
      bankAccount: 'RIB (24 chiffres)',
      exemptionReason: 'Motif d’exonération (0 %)',
    },
    hints: { tradeRegister: 'Avec la ville du tribunal : Casablanca 123456' } as Partial<Record<TextField, string>>,
    means: {
      transfer: 'Virement bancaire',
      cheque: 'Chèque',
      cash: 'Espèces',
      card: 'Carte bancaire',
      direct_debit: 'Prélèvement',
      bill_of_exchange: 'Lettre de change',
      promissory_note: 'Billet à ordre',
      clearing: 'Compensation',
      online: 'Paiement en ligne',
    },
  },
  /** The texts of the audit log. */
  audit: {
    title: 'Journal d’audit',
    lead: 'Qui a changé quoi dans le compte ces 400 derniers jours, dans les deux environnements.',
    none: 'Rien n’est enregistré ici.',
    everything: 'Tout afficher',
    /** Comes before the id in a filter. */
    onlyOf: 'Seulement',
    forOwners: 'Ce journal est réservé aux propriétaires du compte.',
    actors: { key: 'Clé d’API', person: 'Personne', operator: 'Opérateur du service' },
    facts: { actor: 'Par', subject: 'Objet', address: 'Adresse réseau', userAgent: 'Programme' },
  },
  /** The texts of the form that resends deliveries. */
  replay: {
    title: 'Renvoyer une période',
    endpoint: 'Destination',
    state: 'État des envois',
    count: 'Compter',
    none: 'Aucun envoi ne correspond.',
    counted: (count: string) => `Envois\u00a0: ${count}.`,
    more: 'Ce sont les 10 000 plus récents ; il y en a davantage.',
    question: (count: string) =>
      `Recommencer tous ces envois (${count}) ? Le récepteur reconnaît chaque événement à son identifiant.`,
    replay: 'Renvoyer',
    replayed: (count: string) => `Envois en route\u00a0: ${count}.`,
  },
  /** The texts of the pages of a tenant's invoices. */
  invoices: {
    title: 'Factures',
    all: 'Toutes',
    filters: 'Statut',
    kind: 'Nature',
    kinds: { all: 'Tous', invoice: 'Factures', credit_note: 'Avoirs' },
    from: 'Du',
    until: 'Au',
    none: 'Aucun document ne correspond.',
    noneYet: 'Aucune facture pour l’instant. Créez la première par l’API : elle apparaît ici aussitôt.',
    failed: 'Le service est injoignable. Ce qui est affiché peut être dépassé.',
    pages: 'Pages',
    newer: 'Plus récentes',
    older: 'Plus anciennes',
    attention: 'À surveiller',
    columns: {
      number: 'Numéro',
      customer: 'Client',
      status: 'Statut',
      date: 'Créée le',
      description: 'Désignation',
      quantity: 'Quantité',
      unitPrice: 'Prix unitaire',
      vat: 'TVA',
      net: 'Montant HT',
    },
    viewPdf: 'Afficher le PDF ici',
    lines: 'Lignes',
    mail: 'E-mail au client',
    noMail: 'Pas d’e-mail : le client n’a pas d’adresse, ou la facture n’est pas encore acceptée.',
    deliveries: 'Envois de webhooks',
    noDeliveries: 'Aucune destination n’a reçu d’événement de cette facture.',
    retryAt: 'prochaine tentative :',
    attempts: 'Appels à l’administration fiscale',
    mailStatuses: {
      waiting: 'En attente',
      sending: 'Envoi',
      sent: 'Envoyé',
      refused: 'Refusé',
      failed: 'Échoué',
    },
    deliveryStates: {
      pending: 'En attente',
      delivered: 'Réussi',
      failed: 'Échoué',
      cancelled: 'Annulé',
    },
  },
  /** The texts of secrets that are shown once, and of dialogs. */
  secret: {
    once: 'Copiez-la maintenant : cette valeur ne sera plus affichée.',
    copy: 'Copier',
    copied: 'Copié',
    done: 'C’est enregistré',
    cancel: 'Annuler',
  },
  keys: {
    title: 'Clés d’API',
    lead: 'Les clés secrètes restent dans vos serveurs. Une clé publiable lit une facture, avec son client_secret.',
    none: 'Aucune clé pour l’instant.',
    make: { secret: 'Nouvelle clé secrète', publishable: 'Nouvelle clé publiable' },
    made: 'La nouvelle clé.',
    kinds: { secret: 'Clé secrète', publishable: 'Clé publiable' },
    createdOn: 'créée le',
    revokedOn: 'révoquée le',
    rotate: 'Remplacer',
    rotateQuestion: 'Créer une clé du même type ? L’ancienne reste valable jusqu’à ce que vous la révoquiez.',
    revoke: 'Révoquer',
    revokeQuestion: 'Révoquer cette clé ? Les requêtes avec elle échouent aussitôt. C’est définitif.',
  },
  endpoints: {
    title: 'Destinations',
    lead: 'Vos systèmes reçoivent chaque événement par une requête signée.',
    none: 'Aucune destination pour l’instant.',
    made: 'Le secret de signature.',
    on: 'En service',
    off: 'Désactivée',
    failingNow: 'En échec',
    since: 'sans succès depuis le',
    disable: 'Désactiver',
    enable: 'Activer',
    rotate: 'Remplacer le secret',
    rotateQuestion: 'Créer un nouveau secret ? L’ancien signe encore pendant 24 heures.',
    remove: 'Supprimer',
    removeQuestion: 'Supprimer cette destination ? Ses envois en attente sont annulés. C’est définitif.',
    test: 'Envoyer un événement de test',
    tested: 'L’événement de test est en route. La réponse figurera dans les envois.',
    edit: 'Modifier',
    save: 'Enregistrer',
    add: 'Ajouter une destination',
    url: 'Adresse',
    description: 'Description (facultative)',
    events: 'Événements',
    create: 'Ajouter',
  },
  /** The texts of the live events. */
  console: {
    title: 'Console',
    lead: 'Les événements tels que vos systèmes les reçoivent, pendant que cette page est ouverte. La commande fait de même sur votre machine.',
    waiting: 'En attente d’événements…',
    clear: 'Vider',
    byHand: 'Envoyé à la main',
  },
  /** The texts of an endpoint's attempts. Numbers are passed formatted. */
  health: {
    none: 'Aucune tentative ces dernières 24 heures.',
    rate: (percent: string, attempts: string) =>
      `Ces dernières 24 heures : ${percent} % des ${attempts} tentatives ont abouti.`,
    retried: (count: string) => `Reprises : ${count}.`,
    /** Both parameters are in milliseconds. */
    latency: (median: string, p95: string) => `Réponses : la moitié en ${median} ms au plus, 95 % en ${p95} ms.`,
    details: 'Tentatives par heure',
    hour: 'Heure',
    delivered: 'Réussis du premier coup',
    afterRetry: 'Réussis après reprise',
    failed: 'Échoués',
  },
  deliveries: {
    title: 'Envois',
    /** The title of a delivery's own page. */
    one: 'Un envoi',
    none: 'Aucun envoi ne correspond.',
    allStates: 'Tous',
    resend: 'Renvoyer',
    attempt: 'Tentative',
    request: 'Requête',
    answer: 'Réponse',
    truncated: 'les 16 premiers Ko',
  },
  people: {
    title: 'Équipe',
    lead: 'Les rôles valent pour les deux environnements.',
    made: 'L’invitation.',
    you: 'vous',
    /** Marks an address that has not been confirmed by a mail. */
    unconfirmed: 'adresse non confirmée',
    roleOf: (name: string) => `Rôle de ${name}`,
    remove: 'Retirer',
    removeQuestion: (name: string) => `Retirer ${name} ? L’accès cesse aussitôt.`,
    leave: 'Quitter',
    leaveQuestion: 'Quitter cette équipe ? Votre accès cesse aussitôt.',
    open: 'Invitations en attente',
    whoever: 'Quiconque a le lien',
    until: 'jusqu’au',
    revoke: 'Retirer',
    revokeQuestion: 'Retirer cette invitation\u00a0? Son lien ne fonctionnera plus.',
    invite: 'Inviter quelqu’un',
    inviteLead:
      'Le lien sert une fois, pendant 7 jours, et ne confirme aucune adresse. Avec une adresse, un autre y est envoyé, qui la confirme\u00a0; les deux ne servent qu’à elle.',
    email: 'Adresse e-mail (facultative)',
    role: 'Rôle',
    send: 'Inviter',
    roles: {
      viewer: 'Voit tout et ne change rien.',
      biller: 'Voit tout et gère les factures et les avoirs. Pas les clés, les destinations, le profil ni l’équipe.',
      developer: 'Voit tout et gère les destinations et les envois, et en test les factures et les clés.',
      owner: 'Peut tout faire, y compris gérer les clés de production, le profil du vendeur et l’équipe.',
    },
  },
};

/** The texts of the pages; other languages have the same members as the French texts. */
export type Texts = typeof fr;
